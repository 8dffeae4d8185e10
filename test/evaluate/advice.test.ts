import { expect, test } from 'vitest';
import type { EvaluationReport, EvaluationRow } from '../../src/domain/evaluation-schemas.ts';
import { advise, countFacts, type DataFacts } from '../../src/evaluate/advice.ts';
import { createTrial } from '../../src/evaluate/hold-out-protocol.ts';
import type { Past } from '../../src/evaluate/read-feedback.ts';
import { LEGEND, renderText, SHOWN_METRICS } from '../../src/evaluate/report.ts';
import { renderHtml } from '../../src/evaluate/report-html.ts';

const row = (name: string, role: EvaluationRow['role'], against: number): EvaluationRow => ({
  name,
  role,
  metrics: { 'NDCG@10': { mean: 0.2 + against, halfWidth: 0.01 } },
  againstServed: { mean: against, halfWidth: 0.02 },
  variety: { people: 900, items: 35, shared: 7.9, topTenShare: 0.8 },
  byLikes: [{ name: '1 to 3 likes', users: 40, ndcg: { mean: 0.1, halfWidth: 0.02 } }],
});
const served = row('served lists', 'served', 0);
const weekly = (against: number) => ({ ...row('popular', 'reference', against), windowHours: 168 });

const facts: DataFacts = {
  users: 1200,
  usersOfSeveral: 300,
  items: 90,
  itemsOfSeveral: 40,
  otherTypes: [
    ['view', 9000],
    ['share', 7],
  ],
  asked: 80,
  isLimited: false,
};

test('nothing is advised where the served lists are better than all others', () => {
  expect(advise([served, weekly(-0.05)], facts)).toEqual([]);
});

test('where popularity wins, it is told what the data lacks, and not to serve popularity for that', () => {
  const advice = advise([served, row('collaborative alone', 'alone', -0.1), weekly(0.05)], facts);
  expect(advice).toEqual([
    'On this data the most popular items of the last 7 days did better than the lists that are served.',
    expect.stringMatching(
      /300 of 1,200 users \(25 %\) .* two items or more, and 40 of 90 items .* two users or more\.$/,
    ),
    expect.stringMatching(/^Most users have it on one item alone\./),
    expect.stringMatching(/^Not positive is view \(9,000\), share \(7\)\. .*positive_feedback_types\.$/),
  ]);
  const rich = { ...facts, usersOfSeveral: 900, otherTypes: [] };
  expect(advise([served, weekly(0.05)], rich)).toHaveLength(2);
});

test('where the difference is within the noise, that is all that is said, and of too few users', () => {
  const advice = advise([served, weekly(0.01)], { ...facts, isLimited: true });
  expect(advice[0]).toMatch(/^Whether .*, 80 users do not tell; ask about more with --users\.$/);
});

test('the data is counted before what was held out', () => {
  // Users 0 to 2 like item 0, user 0 item 1 too; what user 2 likes last is held out. One has seen something.
  const records = [
    [0, 0],
    [1, 0],
    [0, 1],
    [2, 0],
    [2, 1],
  ] as const;
  const past: Past = {
    userIds: ['a', 'b', 'c'],
    itemIds: ['x', 'y'],
    users: [],
    items: [],
    userRows: [...records.map(([user]) => user), 1],
    itemRows: [...records.map(([, item]) => item), 1],
    timesMs: [1, 2, 3, 4, 5, 2],
    types: ['like', 'like', 'like', 'like', 'like', 'view'],
    values: [0, 0, 0, 0, 0, 0],
    isPositive: [true, true, true, true, true, false],
  };
  const trial = createTrial(past, { share: 0.2, usersMax: 1, seed: 1 });
  expect(countFacts(trial, 1, 1)).toEqual({
    users: 3,
    usersOfSeveral: 1,
    items: 2,
    itemsOfSeveral: 1,
    otherTypes: [['view', 1]],
    asked: 1,
    isLimited: true,
  });
});

test('a report explains each of its columns and says what to do', () => {
  const rows = [served, weekly(0.05)];
  const report: EvaluationReport = {
    ...{ source: 'data', positiveTypes: ['like'], users: 3, items: 2, feedback: 6 },
    tables: [{ protocol: 'temporal', users: 3, rows, conclusion: 'It lost.', advice: ['Do <that>.'] }],
  };
  const columns = LEGEND.map(([column]) => column);
  expect(columns).toEqual(expect.arrayContaining([...SHOWN_METRICS, '±', 'against served']));
  expect(renderText(report)).toContain('It lost.\n\n- Do <that>.\n\nNDCG@10         how high');
  const page = renderHtml(report);
  expect(page).toContain('<li>Do &#60;that&#62;.</li>');
  for (const [column] of LEGEND) expect(page).toContain(`<dt>${column}</dt>`);
});
