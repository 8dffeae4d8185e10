import { describe, expect, it } from 'vitest';
import { RankingRenewal, type RankingRenewalParts } from '../../src/background/fit/ranking-renewal.ts';
import { SerialQueue } from '../../src/background/pool/serial-queue.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { Ranking } from '../../src/recommend/models/feature-names.ts';
import type { ListPlan, PlacedGeneration } from '../../src/threads/messages.ts';
import { popularity, ranking } from '../recommend/hand-made.ts';

const LEARNED = ranking({ popular_30d: 1 }, popularity());
const NOW = ranking({ popular_1h: 1 }, popularity());

function started(answer: (asked: Ranking) => Ranking | undefined, parts: Partial<RankingRenewalParts> = {}) {
  const fitted: { generation: PlacedGeneration } = { generation: { number: 1, ranking: LEARNED, parts: {} } };
  const asked: Ranking[] = [];
  const taken: PlacedGeneration[] = [];
  const time = { nowMs: 0 };
  const run = (job: { readonly ranking: Ranking }) => {
    asked.push(job.ranking);
    time.nowMs += 1000;
    return Promise.resolve(answer(job.ranking));
  };
  const renewal = new RankingRenewal({
    pool: { run: run as unknown as RankingRenewalParts['pool']['run'] },
    queue: new SerialQueue(),
    planOf: () => Promise.resolve({} as ListPlan),
    spans: { windowMs: 1, ttlMs: 1 },
    fitted: () => fitted.generation,
    onRanking: (generation) => taken.push(generation),
    elapsedMs: () => time.nowMs,
    log: createLogger('silent', { write: () => {} }),
    ...parts,
  });
  return { renewal, fitted, asked, taken, time };
}

describe('the renewal of a ranking between fits', () => {
  it('begins with what the fit has learned, once enough was liked, and after a rest again', async () => {
    const { renewal, asked, taken, time } = started(() => NOW);
    renewal.note(99);
    await renewal.settled();
    expect(asked).toEqual([]);
    renewal.note(1);
    await renewal.settled();
    expect(asked).toEqual([LEARNED]);
    expect(taken.map((one) => [one.number, one.ranking])).toEqual([[1, NOW]]);
    renewal.note(200);
    await renewal.settled();
    expect(asked).toHaveLength(1);
    time.nowMs += 60_000;
    renewal.note(1);
    await renewal.settled();
    expect(asked).toEqual([LEARNED, LEARNED]);
  });

  it('is dropped where another generation serves by then, or nothing could be learned', async () => {
    const { renewal, fitted, taken } = started(() => {
      fitted.generation = { ...fitted.generation, number: 2 };
      return NOW;
    });
    renewal.note(100);
    await renewal.settled();
    const nothing = started(() => undefined);
    nothing.renewal.note(100);
    await nothing.renewal.settled();
    expect([...taken, ...nothing.taken]).toEqual([]);
  });

  it('that fails leaves the ranking as it is, and none begins after a stop', async () => {
    const { renewal, taken, asked, time } = started(() => {
      throw new Error('no memory');
    });
    renewal.note(100);
    await renewal.settled();
    await renewal.stop();
    time.nowMs += 1e9;
    renewal.note(1000);
    await renewal.settled();
    expect(asked).toHaveLength(1);
    expect(taken).toEqual([]);
  });
});
