import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Feedback, Item } from '../../src/domain/entities.ts';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { POSITIVE_TYPES, processCpuMs, type ServerProcess, startService } from './processes.ts';
import { PutRecorder, RawWriter } from './raw-replay.ts';
import { quantile, type Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, labelsOf, userIdOf, type WorldSize } from './world.ts';

const BATCH_RECORDS = 10_000;
const CONNECTIONS = [1, 64];
/** Writes that each side makes before it is the other's turn. */
const TURN_WRITES = 256;
/** Time between two looks at whether the model is there, milliseconds. */
const LOOK_MS = 500;

/** One write as a request and as the store's command. */
interface Write {
  readonly request: Buffer;
  readonly command: WriteCommand;
}

/** A kind of write, the next one each time. */
interface Kind {
  readonly name: string;
  /** Processor time of one, milliseconds, that is aimed at. */
  readonly aimCpuMs: number;
  readonly make: (at: number) => Write;
}

/**
 * One durable record a request, while a model serves, against LMDB given the very same puts with a transaction and a
 * flush each, turn by turn.
 */
export async function benchWrites(size: WorldSize, turns: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const service = await startService(folder, [], { firstFitAfter: '1s' });
  const recorder = new PutRecorder(join(folder, 'recorded'));
  const raw = new RawWriter(join(folder, 'raw'));
  const random = createRandom(3);
  for (const records of itemBatches(size, random)) {
    await sendAll(service.port, [postRequest('/api/items', JSON.stringify(records))], 1);
    recorder.recordCommand({ kind: 'putItems', batch: { records } });
  }
  for (const records of feedbackBatches(size, BATCH_RECORDS)) {
    await sendAll(service.port, [postRequest('/api/feedback', JSON.stringify(records))], 1);
    recorder.record(records);
  }
  await quiet(service);
  let made = 0;
  const rows: Row[] = [];
  for (const kind of kinds(size, random)) {
    for (const connections of CONNECTIONS) rows.push(...(await face(kind, connections)));
  }
  await service.stop();
  await recorder.close();
  await raw.close();
  await rm(folder, { recursive: true });
  return rows;

  async function face(kind: Kind, connections: number): Promise<Row[]> {
    const own: Spent = { latenciesMs: [], cpuMs: 0, ms: 0 };
    const bare: Spent = { latenciesMs: [], cpuMs: 0, ms: 0 };
    for (let turn = 0; turn <= turns; turn++) {
      const writes = Array.from({ length: TURN_WRITES }, () => kind.make(made++));
      const puts = writes.map(({ command }) => recorder.recordCommand(command));
      const requests = writes.map(({ request }) => request);
      const warmsUp = turn === 0;
      await spend(own, service.allCpuMs, warmsUp, () => sendAll(service.port, requests, connections));
      await spend(
        bare,
        () => processCpuMs(process.pid),
        warmsUp,
        async () => puts.map((each) => raw.writeOne(each)),
      );
    }
    return rowsOf(`${kind.name}, ${connections} at a time`, connections, kind.aimCpuMs, own, bare);
  }
}

interface Spent {
  readonly latenciesMs: number[];
  ms: number;
  cpuMs: number;
}

async function spend(
  spent: Spent,
  cpuMs: () => number,
  warmsUp: boolean,
  run: () => Promise<number[]>,
): Promise<void> {
  const startCpuMs = cpuMs();
  const start = performance.now();
  const latenciesMs = await run();
  if (warmsUp) return;
  spent.ms += performance.now() - start;
  spent.cpuMs += cpuMs() - startCpuMs;
  spent.latenciesMs.push(...latenciesMs);
}

function rowsOf(bench: string, connections: number, aimCpuMs: number, own: Spent, bare: Spent): Row[] {
  const reference = 'LMDB given the same puts, one by one';
  const count = own.latenciesMs.length;
  const row = (unit: string, furze: number, referenceValue: number, aim: string): Row => ({
    bench,
    unit,
    furze,
    reference,
    referenceValue,
    ratio: furze / referenceValue,
    aim,
  });
  const p50 = (spent: Spent) => quantile(spent.latenciesMs, 0.5);
  const p99 = (spent: Spent) => quantile(spent.latenciesMs, 0.99);
  const rows = [
    row('writes/s', (count / own.ms) * 1000, (count / bare.ms) * 1000, ''),
    row('ms of processor time', own.cpuMs / count, bare.cpuMs / count, `<= ${aimCpuMs} ms`),
  ];
  if (connections > 1) return rows;
  return [
    ...rows,
    row('ms, p50', p50(own), p50(bare), 'its value + 0.1 ms'),
    row('ms, p99', p99(own), p99(bare), '3 times p50'),
  ];
}

/** Waits until a model serves and everybody has a list of it. */
async function quiet(service: ServerProcess): Promise<void> {
  for (;;) {
    const tasks = await fetch(`http://127.0.0.1:${service.port}/api/admin/tasks`);
    const text = await tasks.text();
    if (/"State":"done"/.test(text) && !/"State":"running"/.test(text)) break;
    await delay(LOOK_MS);
  }
  for (let before = Number.NaN; ; ) {
    const cpuMs = service.allCpuMs();
    // Less than a tenth of a processor.
    if (cpuMs - before < LOOK_MS / 10) return;
    before = cpuMs;
    await delay(LOOK_MS);
  }
}

function* itemBatches({ items }: WorldSize, random: Random): Generator<Item[]> {
  for (let from = 0; from < items; from += BATCH_RECORDS) {
    const length = Math.min(BATCH_RECORDS, items - from);
    yield Array.from({ length }, (_, at) => item(itemIdOf(from + at), random));
  }
}

function item(ItemId: string, random: Random): Item {
  return {
    ...EMPTY_ITEM,
    ItemId,
    Categories: [`category-${random.below(20)}`],
    Timestamp: '2024-01-01T00:00:00Z',
    Labels: labelsOf(random),
  };
}

function kinds({ users, items }: WorldSize, random: Random): readonly Kind[] {
  return [
    {
      name: 'POST /api/item',
      aimCpuMs: 0.2,
      make(at) {
        const record = item(`new-${at}`, random);
        return {
          request: postRequest('/api/item', JSON.stringify(record)),
          command: { kind: 'putItems', batch: { records: [record] } },
        };
      },
    },
    {
      name: 'POST /api/feedback of one',
      aimCpuMs: 0.1,
      make() {
        const record: Feedback = {
          FeedbackType: POSITIVE_TYPES[0]!,
          UserId: userIdOf(random.below(users)),
          ItemId: itemIdOf(random.below(items)),
          Timestamp: '2024-06-01T00:00:00Z',
          Comment: '',
        };
        return {
          request: postRequest('/api/feedback', JSON.stringify([record])),
          command: { kind: 'putFeedback', overwrite: false, batch: { records: [record] } },
        };
      },
    },
  ];
}
