import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { tellStages } from '../../src/cli/commands/evaluate.ts';

it('tells each stage with counts and the time that is left, and one that lasts every ten seconds', () => {
  let nowMs = 0;
  const stream = new PassThrough();
  const tell = tellStages(stream, () => nowMs);
  tell('replay: fit 1 of 2', 0, 100);
  nowMs = 20_000;
  tell('replay: questions', 50, 100);
  nowMs = 25_000;
  tell('replay: questions', 60, 100);
  nowMs = 30_000;
  tell('replay: questions', 75, 100);
  tell('alike: asking people', 0, 100);
  expect(String(stream.read()).trim().split('\n')).toEqual([
    'replay: fit 1 of 2: 0 of 100, 0 s so far',
    'replay: questions: 50 of 100, 50%, 20 s left',
    'replay: questions: 75 of 100, 75%, 10 s left',
    'alike: asking people: 0 of 100, 0 s so far',
  ]);
});
