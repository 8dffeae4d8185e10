import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Feedback } from '../../src/domain/entities.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { POSITIVE_TYPES, type ServerProcess, startService, withFolder } from './processes.ts';
import { PutRecorder, RawWriter } from './raw-replay.ts';
import { ownCpuMs, quantile, type Row, ratioRow, Spent } from './statistics.ts';
import { feedbackBatches, itemBatches, itemIdOf, itemOf, userIdOf, type WorldSize } from './world.ts';

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
export function benchWrites(size: WorldSize, turns: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const service = await startService(folder, [], { firstFitAfter: '1s' });
    const recorder = new PutRecorder(join(folder, 'recorded'));
    const raw = new RawWriter(join(folder, 'raw'));
    const post = (path: string, records: readonly object[]) =>
      sendAll(service.port, [postRequest(path, records)], 1);
    for (const records of itemBatches(size, BATCH_RECORDS)) {
      await post('/api/items', records);
      recorder.recordCommand({ kind: 'putItems', batch: { records } });
    }
    for (const records of feedbackBatches(size, BATCH_RECORDS)) {
      await post('/api/feedback', records);
      recorder.record(records);
    }
    await quiet(service);
    let made = 0;
    const rows: Row[] = [];
    for (const kind of kinds(size, createRandom(3)))
      for (const connections of CONNECTIONS) {
        const [own, bare] = [new Turns(), new Turns()];
        for (let turn = 0; turn <= turns; turn++) {
          const writes = Array.from({ length: TURN_WRITES }, () => kind.make(made++));
          const puts = writes.map(({ command }) => recorder.recordCommand(command));
          const requests = writes.map(({ request }) => request);
          await own.take(turn, service.allCpuMs, () => sendAll(service.port, requests, connections));
          await bare.take(turn, ownCpuMs, async () => puts.map((each) => raw.writeOne(each)));
        }
        rows.push(...rowsOf(kind, connections, own, bare));
      }
    await service.stop();
    await recorder.close();
    await raw.close();
    return rows;
  });
}

/** Times of the writes of one side; the first turn warms up. */
class Turns {
  readonly latenciesMs: number[] = [];
  readonly spent = new Spent();

  async take(turn: number, cpuMs: () => number, run: () => Promise<number[]>): Promise<void> {
    if (turn === 0) await run();
    else this.latenciesMs.push(...(await this.spent.add(cpuMs, run)));
  }

  quantile(share: number): number {
    return quantile(this.latenciesMs, share);
  }
}

function rowsOf({ name, aimCpuMs }: Kind, connections: number, own: Turns, bare: Turns): Row[] {
  const count = own.latenciesMs.length;
  const row = (unit: string, of: (side: Turns) => number, aim = '') => {
    const bench = `${name}, ${connections} at a time`;
    return ratioRow(bench, unit, of(own), 'LMDB given the same puts, one by one', of(bare), aim);
  };
  const rows = [
    row('writes/s', ({ spent }) => (count / spent.ms) * 1000),
    row('ms of processor time', ({ spent }) => spent.cpuMs / count, `<= ${aimCpuMs} ms`),
  ];
  if (connections > 1) return rows;
  return [
    ...rows,
    row('ms, p50', (side) => side.quantile(0.5), 'its value + 0.1 ms'),
    row('ms, p99', (side) => side.quantile(0.99), '3 times p50'),
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

function kinds({ users, items }: WorldSize, random: Random): readonly Kind[] {
  return [
    {
      name: 'POST /api/item',
      aimCpuMs: 0.2,
      make(at) {
        const record = itemOf(`new-${at}`, random);
        return {
          request: postRequest('/api/item', record),
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
          request: postRequest('/api/feedback', [record]),
          command: { kind: 'putFeedback', overwrite: false, batch: { records: [record] } },
        };
      },
    },
  ];
}
