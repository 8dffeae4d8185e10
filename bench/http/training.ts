import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { User } from '../../src/domain/entities.ts';
import { createRandom } from '../../src/domain/random.ts';
import type { DataStore } from '../../src/store/data-store.ts';
import { getRequest } from './connection.ts';
import { measureLatencies } from './load.ts';
import { cachePathOf, openFolder, type ServerProcess, startBare, startService } from './processes.ts';
import { quantile, type Row } from './statistics.ts';
import { computedMemory, ownBytes } from './training-memory.ts';
import { feedbackBatches, userIdOf, type WorldSize } from './world.ts';

const FILL_RECORDS = 10_000;
/** Batches that are under way at once and share a commit. */
const FILL_BATCHES = 10;
/** Period in which a long fill tells its progress. */
const TELL_RECORDS = 1_000_000;
/** Users asked for, each again and again. */
const PROBED_USERS = 5000;
/** Between an answer and the next question, so that the probes are no load themselves. */
const PAUSE_MS = 1;
/** Bytes of a list of ten as JSON, about. */
const BARE_BODY_BYTES = 120;
/** Period in which stage and memory are read. */
const WATCH_MS = 500;
const IDLE = 'idle';
const TAIL = 0.99;
const MB = 2 ** 20;
/** A service that has not begun to fit after this time never will. */
const PATIENCE_MS = 60_000;
/** Warm-up, as a share of the idle time. */
const WARM_UP_SHARE = 0.5;

const PROBES = [
  { name: 'GET /api/recommend/{user}?n=10', path: (id: string) => `/api/recommend/${id}?n=10`, aim: '<= 3' },
  { name: 'GET /api/user/{id}', path: (id: string) => `/api/user/${id}`, aim: '<= 3' },
  { name: 'bare uWebSockets.js', path: () => '/', aim: '' },
];

/**
 * Cost of a training for requests: latencies of a list, of a point read and of a bare handler in the same moments,
 * stage by stage against their idle values before and after; and the memory that the service takes for it, against
 * what is worked out beforehand.
 * @param idleMs for how long requests are measured before and after
 * @param kept folder to fill and keep, or to use as it is when it was filled before; a new one that goes when absent
 */
export async function benchTraining(size: WorldSize, idleMs: number, kept?: string): Promise<Row[]> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'furze-bench-')));
  try {
    const stored = await fill(folder, size);
    // A model of an earlier run would leave nothing to learn.
    await rm(cachePathOf(folder), { recursive: true, force: true });
    const firstFitAfter = `${Math.ceil((WARM_UP_SHARE * idleMs + idleMs) / 1000)}s`;
    const bare = await startBare(BARE_BODY_BYTES);
    const service = await startService(folder, [], { threads: 0, firstFitAfter });
    const course = new Course(service);
    try {
      await course.follow(bare, size, idleMs);
    } finally {
      await Promise.all([service.stop(), bare.stop()]);
    }
    console.log(`stages, seconds: ${course.seconds()}`);
    return [...course.latencyRows(), ...course.memoryRows(computedMemory(folder, stored))];
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true });
  }
}

/** @returns how many records there are, for some replace others */
async function fill(folder: string, size: WorldSize): Promise<number> {
  const { data, cache } = openFolder(folder);
  const start = performance.now();
  const before = (await data.getStats()).feedback;
  if (before === 0) await putAll(data, size);
  const { feedback } = await data.getStats();
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${feedback} distinct feedback, ${feedback - before} of them stored in ${seconds.toFixed(0)} s`,
  );
  await data.close();
  await cache.close();
  return feedback;
}

async function putAll(data: DataStore, size: WorldSize): Promise<void> {
  for (let from = 0; from < size.users; from += FILL_RECORDS)
    await data.write({
      kind: 'putUsers',
      batch: { records: users(from, Math.min(size.users, from + FILL_RECORDS)) },
    });
  let made = 0;
  let writing: Promise<unknown>[] = [];
  for (const records of feedbackBatches(size, FILL_RECORDS)) {
    writing.push(data.write({ kind: 'putFeedback', overwrite: false, batch: { records } }));
    made += records.length;
    if (writing.length < FILL_BATCHES && made < size.feedback) continue;
    await Promise.all(writing);
    writing = [];
    if (made % TELL_RECORDS === 0) console.log(`${made} of ${size.feedback} feedback stored`);
  }
}

/** Every user, for chance leaves some without feedback. */
function users(from: number, to: number): User[] {
  return Array.from({ length: to - from }, (_, at) => ({
    UserId: userIdOf(from + at),
    Labels: [],
    Comment: '',
    Subscribe: [],
  }));
}

/** Sample of one moment. */
interface Sample {
  readonly stage: string;
  readonly atMs: number;
  readonly residentBytes: number;
  /** Without pages of files, such as the store's; NaN where the system does not tell. */
  readonly ownBytes: number;
}

/** A fit from before its beginning to after its end. */
class Course {
  private readonly service: ServerProcess;
  private stage = IDLE;
  private begun = false;
  private readonly samples: Sample[] = [];
  /** By stage, in order, milliseconds by probe. */
  private readonly latencies = new Map<string, number[][]>();

  constructor(service: ServerProcess) {
    this.service = service;
  }

  /** Asks all the time until the fit is over, and for a while after. */
  async follow(bare: ServerProcess, { users }: WorldSize, idleMs: number): Promise<void> {
    const random = createRandom(5);
    const ids = Array.from({ length: Math.min(PROBED_USERS, users) }, () => userIdOf(random.below(users)));
    const requests = PROBES.map(({ path }) => ids.map((id) => getRequest(path(id))));
    const ports = [this.service.port, this.service.port, bare.port];
    const ask = (goOn: (asked: number) => boolean, onAnswer?: (probe: number, latencyMs: number) => void) =>
      Promise.all(
        ports.map((port, probe) =>
          measureLatencies(port, requests[probe]!, PAUSE_MS, goOn, (ms) => onAnswer?.(probe, ms)),
        ),
      );
    const note = (probe: number, latencyMs: number) => this.noteLatency(probe, latencyMs);
    const until = (untilMs: number) => () => performance.now() < untilMs;
    await ask(until(performance.now() + WARM_UP_SHARE * idleMs));
    const control = { watching: true };
    const watch = this.watch(control);
    try {
      await ask(() => !this.isOver && control.watching, note);
      if (!this.begun) throw new Error('no fit was seen to begin');
      await ask(until(performance.now() + idleMs), note);
    } finally {
      control.watching = false;
    }
    await watch;
  }

  /** Time of each stage, as text. */
  seconds(): string {
    const stages = new Map<string, number>();
    for (const [at, { stage, atMs }] of this.samples.entries()) {
      const lastedMs = (this.samples[at + 1]?.atMs ?? atMs) - atMs;
      if (stage !== IDLE) stages.set(stage, (stages.get(stage) ?? 0) + lastedMs / 1000);
    }
    return [...stages].map(([stage, seconds]) => `${stage} ${seconds.toFixed(1)}`).join(', ');
  }

  latencyRows(): Row[] {
    const busy = [...this.latencies].filter(([stage]) => stage !== IDLE);
    const whole = PROBES.map((_, probe) => busy.flatMap(([, all]) => all[probe]!));
    const row = (when: string, of: readonly number[][], probe: number, share: number): Row => {
      const furze = quantile(of[probe]!, share);
      const referenceValue = quantile(this.latencies.get(IDLE)![probe]!, share);
      const { name, aim } = PROBES[probe]!;
      return {
        bench: `${share === 1 ? 'longest' : `p${share * 100}`} of ${name}, ${when}`,
        unit: 'ms',
        furze,
        reference: 'the same when idle',
        referenceValue,
        ratio: furze / referenceValue,
        aim: share === TAIL ? aim : '',
      };
    };
    const each = [0.5, TAIL, 1].flatMap((share) =>
      PROBES.map((_, at) => row('all of a fit', whole, at, share)),
    );
    return each.concat(
      busy.flatMap(([stage, of]) => PROBES.map((_, at) => ({ ...row(stage, of, at, TAIL), aim: '' }))),
    );
  }

  /** @param computed bytes by stage */
  memoryRows(computed: ReadonlyMap<string, number>): Row[] {
    const most = (bytesOf: (sample: Sample) => number, of: readonly Sample[]) =>
      of.reduce((peak, sample) => Math.max(peak, bytesOf(sample)), 0) / MB;
    const row = (bench: string, furze: number, referenceValue: number): Row => {
      const reference = 'as worked out beforehand';
      return { bench, unit: 'MiB', furze, reference, referenceValue, ratio: furze / referenceValue, aim: '' };
    };
    const resident = ({ residentBytes }: Sample) => residentBytes;
    const own = ({ ownBytes }: Sample) => ownBytes;
    const idle = this.samples.slice(0, 1);
    const largest = Math.max(...computed.values()) / MB;
    const rows = [resident, own].map((bytesOf, at) => {
      const before = most(bytesOf, idle);
      const what = ['resident memory', 'memory without pages of files'][at]!;
      const bench = `${what} gained, from ${Math.round(before)} MiB`;
      return row(bench, most(bytesOf, this.samples) - before, largest);
    });
    const stages = [...new Set(this.samples.map(({ stage }) => stage))].filter((stage) => stage !== IDLE);
    return rows.concat(
      stages.map((stage) => {
        const of = this.samples.filter((sample) => sample.stage === stage);
        const bytes = computed.get(stage) ?? Number.NaN;
        return row(`of it, ${stage}`, most(own, of) - most(own, idle), bytes / MB);
      }),
    );
  }

  private get isOver(): boolean {
    return this.begun && this.stage === IDLE;
  }

  private noteLatency(probe: number, latencyMs: number): void {
    let all = this.latencies.get(this.stage);
    if (all === undefined) this.latencies.set(this.stage, (all = PROBES.map(() => [])));
    all[probe]!.push(latencyMs);
  }

  /** Reads stage and memory from time to time. Ends, and ends `control.watching`, when the service does not fit. */
  private async watch(control: { watching: boolean }): Promise<void> {
    const startMs = performance.now();
    while (control.watching) {
      const text = await (await fetch(`http://127.0.0.1:${this.service.port}/metrics`)).text();
      const stage = /^furze_fit_steps_done\{stage="([^"]*)"\}/m.exec(text)?.[1] ?? IDLE;
      if (stage !== this.stage) console.log(`${new Date().toISOString()} ${stage}`);
      this.stage = stage;
      this.begun ||= this.stage !== IDLE;
      const atMs = performance.now();
      if (!this.begun && atMs - startMs > PATIENCE_MS) control.watching = false;
      const residentBytes = Number(/^process_resident_memory_bytes (.*)$/m.exec(text)?.[1]);
      this.samples.push({ stage: this.stage, atMs, residentBytes, ownBytes: ownBytes(this.service.pid) });
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    }
  }
}
