import { expect, test, vi } from 'vitest';
import type { Engine, Flow } from '../../src/http/engine/engine.ts';
import { Burst } from '../../src/http/flow/burst.ts';
import { ByteBudget } from '../../src/http/flow/byte-budget.ts';
import { Outflow } from '../../src/http/flow/outflow.ts';
import { PaceWatch } from '../../src/http/flow/pace-watch.ts';
import type { Exchange } from '../../src/http/pipeline/exchange.ts';
import { jsonPage } from '../../src/http/route/page-reply.ts';
import { jsonText, type Reply } from '../../src/http/route/reply.ts';

/** An engine whose peer takes `limit` pieces and no more. */
function engineThatTakes(limit: number) {
  const sent: (string | Uint8Array)[] = [];
  const flow: Flow = {
    onReady: () => {},
    write: (part) => sent.push(part) <= limit,
    end: () => {},
  };
  return { sent, engine: { begin: () => flow } as unknown as Engine<object> };
}

const inParts = (parts: Reply['parts']): Reply => ({ ...jsonText(''), parts });
const EXCHANGE = {} as Exchange;

test('a part that is larger than others counts for what it is until the answer is over', async () => {
  const budget = new ByteBudget(1_000_000);
  const rules = { budget, paces: new PaceWatch(60_000) };
  const outflow = Outflow.open(rules, inParts([]), () => {})!;
  const atFirst = budget.heldBytes;
  const { engine } = engineThatTakes(1);
  const sending = outflow.send(engine, {}, inParts(['x'.repeat(10), 'x'.repeat(600_000)]), EXCHANGE, false);
  await expect.poll(() => budget.heldBytes).toBe(1_200_000);
  expect(atFirst).toBeGreaterThan(0);
  expect(Outflow.open(rules, inParts([]), () => {})).toBeUndefined();
  outflow.end();
  expect(await sending).toBe(false);
  expect(budget.heldBytes).toBe(0);
});

test('a long part goes out in pieces that cut no character', async () => {
  const text = `x${'\u{1f600}'.repeat(50_000)}`;
  const { engine, sent } = engineThatTakes(Number.POSITIVE_INFINITY);
  const rules = { budget: new ByteBudget(1_000_000), paces: new PaceWatch(60_000) };
  const outflow = Outflow.open(rules, inParts([]), () => {})!;
  expect(await outflow.send(engine, {}, inParts([text]), EXCHANGE, false)).toBe(true);
  outflow.end();
  expect(sent.length).toBeGreaterThan(3);
  expect(Buffer.concat(sent.map((piece) => Buffer.from(piece))).toString() === text).toBe(true);
});

test('of long records fewer are read at a time, so that a caller who does not read holds little', async () => {
  const rows = Array.from({ length: 400 }, (_, at) => ({ at, text: 'x'.repeat(4000) }));
  const reads: number[] = [];
  const { parts } = await jsonPage(
    'Rows',
    { n: 400, cursor: '', bytesMax: 10_000_000 },
    async (n, cursor) => {
      reads.push(n);
      const to = Math.min(Number(cursor) + n, rows.length);
      return { rows: rows.slice(Number(cursor), to), cursor: to < rows.length ? String(to) : '' };
    },
  );
  let text = '';
  for await (const part of parts!) text += part;
  expect(JSON.parse(text).Rows).toEqual(rows);
  expect(Math.max(...reads.slice(1))).toBeLessThan(10);
});

test('requests beyond what a round may take are put off, and have their turn', async () => {
  const patient = new Burst(true);
  expect([0, 9, 11].map((nowMs) => patient.count(nowMs))).toEqual(['answer', 'answer', 'put off']);
  await Promise.all(Array.from({ length: 100 }, () => patient.turn(patient)));
  expect(patient.count(1000)).toBe('answer');

  const strict = new Burst(false);
  const fates = (nowMs: number) => new Set(Array.from({ length: 40_000 }, () => strict.count(nowMs)));
  expect([0, 2001].map(fates)).toEqual([new Set(['answer']), new Set(['answer', 'refuse'])]);
  await strict.turn(strict);
  expect(strict.count(3000)).toBe('answer');
});

test.skipIf(process.platform === 'win32')('a long round is broken off by one signal', async () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  const burst = new Burst(false);
  for (const nowMs of [0, 20, 21, 22]) expect(burst.count(nowMs)).toBe('answer');
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGURG']]);
  await burst.turn(burst);
  burst.count(30);
  expect(kill).toHaveBeenCalledTimes(1);
  kill.mockRestore();
});

test('a request that is put off waits for one of each other connection, however many these have sent', async () => {
  const burst = new Burst(true);
  const order: string[] = [];
  const ask = (connection: object, name: string) => burst.turn(connection).then(() => order.push(name));
  const [many, also, single] = [{}, {}, {}];
  const all = [...'abcdef'].flatMap((name) => [ask(many, `many ${name}`), ask(also, `also ${name}`)]);
  await Promise.all([...all, ask(single, 'single')]);
  expect(order.slice(0, 4)).toEqual(['many a', 'also a', 'single', 'many b']);
  expect(order.filter((name) => name.startsWith('also'))).toEqual(
    [...'abcdef'].map((name) => `also ${name}`),
  );
});
