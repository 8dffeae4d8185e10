import { expect, test } from 'vitest';
import type { EvaluationRow, ReplayRow } from '../../src/domain/evaluation-schemas.ts';
import { conclude, concludeReplay } from '../../src/evaluate/conclusion.ts';

const row = (name: string, role: EvaluationRow['role'], mean: number): EvaluationRow => ({
  name,
  role,
  metrics: { 'NDCG@10': { mean, halfWidth: 0.01 } },
  againstServed: { mean: mean - 0.2, halfWidth: 0.01 },
  variety: { people: 1000, items: 35, shared: 8, topTenShare: 0.9 },
  byLikes: [],
});
const popular = (windowHours: number | null, mean: number): EvaluationRow => ({
  ...row('popularity', 'reference', mean),
  windowHours,
});
const alike =
  'Nearly everybody gets the same list: 1,000 people see 35 of 10,506 items, and two people share 8.0 of ten.';
const served = row('served lists', 'served', 0.2);

test('what the served lists are compared with is told in words', () => {
  expect(conclude([served, row('collaborative alone', 'alone', 0.1), popular(48, 0.16)], 10_506)).toBe(
    'Served lists beat the best of the others, the most popular items of the last 2 days, by 25 %, which is more than the noise. ' +
      alike,
  );
  expect(conclude([served, row('collaborative alone', 'alone', 0.16), popular(null, 0.1)], 10_506)).toBe(
    'Served lists beat the best of the others, collaborative alone, by 25 %, which is more than the noise. ' +
      'Served lists beat popularity, the most popular items of all time, by 100 %, which is more than the noise. ' +
      alike,
  );
});

test('a replay that is behind for people without likes says what answers them', () => {
  const way = (name: string, role: ReplayRow['role'], mean: number, lead: number): ReplayRow => ({
    ...{ name, role, hits: 9, hitsBeyondCounter: 1 },
    ndcg: { mean, halfWidth: 0.01 },
    againstServed: { mean: lead, halfWidth: 0.01 },
  });
  const group = (name: string, lead: number) => ({
    ...{ name, questions: 100 },
    rows: [way('served lists', 'served', 0.1, 0), way('most liked, 12 h', 'counter', 0.1 + lead, lead)],
  });
  const all = group('all questions', 0);
  const level = 'The served lists are level with the best simple way, most liked, 12 h: 0.100 against 0.100.';
  expect(concludeReplay([all, group('no likes yet', 0)])).toBe(level);
  const behind = `${level} They are behind the best one for: 1 like.`;
  expect(concludeReplay([all, group('1 like', 0.1)])).toBe(behind);
  expect(concludeReplay([all, group('no likes yet', 0.1)])).toContain('fallback_recommend');
});
