import { expect, test } from 'vitest';
import { jsonList } from '../../src/http/route/list-reply.ts';

async function* slices(lengths: readonly number[], onEnd: () => void = () => {}) {
  let number = 0;
  try {
    for (const length of lengths) yield Array.from({ length }, () => ({ number: number++ }));
  } finally {
    onEnd();
  }
}

async function textOf(lengths: readonly number[]): Promise<string> {
  const { body, parts } = await jsonList(slices(lengths));
  let text = body as string;
  for await (const part of parts ?? []) text += part;
  return text;
}

test('slices make one JSON array, whatever their number and length', async () => {
  for (const lengths of [[], [0], [3], [0, 0], [2, 2], [0, 3], [3, 0], [1, 0, 0, 2], [0, 0, 1]]) {
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const wanted = Array.from({ length: total }, (_, number) => ({ number }));
    expect(JSON.parse(await textOf(lengths))).toEqual(wanted);
  }
});

test('one slice goes out whole', async () => {
  expect(await jsonList(slices([2]))).toMatchObject({ body: '[{"number":0},{"number":1}]' });
  expect((await jsonList(slices([2]))).parts).toBeUndefined();
});

test('a list that nobody takes to its end lets go of its source', async () => {
  let ended = 0;
  const { parts } = await jsonList(slices([1, 1, 1], () => ended++));
  for await (const _part of parts!) break;
  expect(ended).toBe(1);
});
