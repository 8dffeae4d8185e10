/** A service from its start to the end of its first fit, watched from outside. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { WRITING_RECOMMENDATIONS } from '../../src/background/tasks/fit-stages.ts';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest } from '../http/connection.ts';
import { measureLatencies, measureLoad, RequestRing } from '../http/load.ts';
import {
  cachePathOf,
  dataPathOf,
  ownBytes,
  type ServerProcess,
  startBare,
  startConfigured,
  TYPES_SECTION,
} from '../http/processes.ts';
import { quantile } from '../http/statistics.ts';
import { listRequests, userIdOf, type WorldSize } from '../http/world.ts';

const MB = 2 ** 20;
const WATCH_MS = 200;
/** Users asked for, each again and again. */
const ASKED_USERS = 2000;
const PRESSURE = { connections: 16, depth: 1 };
/** Between an answer and the next question of those whose time is taken. */
const PAUSE_MS = 2;
/** Bytes of a list of ten as JSON, about. */
const BARE_BODY_BYTES = 120;
/** Period of the loads during a fit. */
const LOAD_EVERY_MS = 5000;
const IDLE = '';

/** Samples of one stage of the fit. */
export interface StageFigures {
  readonly stage: string;
  readonly seconds: number;
  /** The most that the process had in memory of its own, pages of files left out, MiB. */
  readonly peakMb: number;
  /** Of it in the main thread's JavaScript heap; nearly all of the rest is typed arrays. */
  readonly heapMb: number;
  /** Worked out by the service before the stage, MiB; NaN where it says nothing. */
  readonly budgetedMb: number;
  /** Of a list meanwhile, milliseconds. */
  readonly p99Ms: number;
}

/** Samples of the requests in one state of the service. */
export interface RequestFigures {
  readonly perSecond: number;
  /** Of lists, of single users, and of a bare handler in the same moments: what that loses, it loses to busy processors. */
  readonly p99Ms: number;
  readonly userP99Ms: number;
  readonly bareP99Ms: number;
  readonly longestMs: number;
  /** Number of times that the event loop was more than 50 ms late. */
  readonly stalls: number;
}

export interface CourseFigures {
  /** From the start of the process to an answer that it is ready: with nothing in the cache, and again after the fit. */
  readonly readySeconds: number;
  readonly restartSeconds: number;
  /** Memory of its own before the fit. */
  readonly startMb: number;
  readonly stages: readonly StageFigures[];
  /** Those that were made until the end, or until the time for them was over. */
  readonly lists: number;
  /** Undefined where the lists were not waited for. */
  readonly idle: RequestFigures | undefined;
  readonly fitting: RequestFigures;
  readonly diskBytes: { readonly data: number; readonly cache: number };
}

export interface CourseOptions {
  readonly folder: string;
  readonly size: WorldSize;
  /** The most that a fit may take, MiB; 0 for the service's own choice. */
  readonly memoryMb: number;
  readonly idleMs: number;
  /** Longest wait for lists, seconds. */
  readonly listSecondsMax: number;
}

/** Starts the service, follows its first fit to the end of the lists or of the time for them, asks an idle service the same, and starts it again. */
export async function followFirstFit(options: CourseOptions): Promise<CourseFigures> {
  const course = await whileServing(options, (service, readySeconds) =>
    follow(service, readySeconds, options),
  );
  const restartSeconds = await whileServing(options, async (_, seconds) => seconds);
  return { ...course, restartSeconds };
}

/** @param watch is told the seconds from the start of the process until it was ready */
async function whileServing<T>(
  { folder, memoryMb }: CourseOptions,
  watch: (service: Watched, readySeconds: number) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const service = await Watched.start(folder, memoryMb);
  try {
    const { ok, status } = await fetch(`http://127.0.0.1:${service.port}/api/health/ready`);
    if (!ok) throw new Error(`the service listens and is not ready: ${status}`);
    return await watch(service, (performance.now() - startedMs) / 1000);
  } finally {
    await service.stop();
  }
}

async function follow(
  service: Watched,
  readySeconds: number,
  { folder, size, idleMs, listSecondsMax }: CourseOptions,
): Promise<Omit<CourseFigures, 'restartSeconds'>> {
  const startMb = service.memoryMb;
  await service.fitBegins();
  const isFollowed = () => !service.isOver && service.listSeconds < listSecondsMax;
  const bare = await startBare(BARE_BODY_BYTES);
  const fitting = await measureRequests(service, bare, size, isFollowed);
  const untilMs = performance.now() + idleMs;
  const idle = service.isOver
    ? await measureRequests(service, bare, size, () => performance.now() < untilMs)
    : undefined;
  await bare.stop();
  return {
    readySeconds,
    startMb,
    stages: service.stages(),
    lists: service.lists,
    idle,
    fitting,
    diskBytes: { data: fileBytes(dataPathOf(folder)), cache: fileBytes(cachePathOf(folder)) },
  };
}

/** Asks one by one, and from time to time as much as is answered, for as long as `goOn` says. */
async function measureRequests(
  service: Watched,
  bare: ServerProcess,
  size: WorldSize,
  goOn: () => boolean,
): Promise<RequestFigures> {
  const { port } = service;
  const random = createRandom(5);
  const lists = listRequests(size, ASKED_USERS, 5);
  const users = lists.map(() => getRequest(`/api/user/${userIdOf(random.below(size.users))}`));
  const ring = new RequestRing(lists);
  const latenciesMs: [lists: number[], users: number[], bare: number[]] = [[], [], []];
  const rates: number[] = [];
  const stalls = service.stalls;
  do {
    const untilMs = performance.now() + LOAD_EVERY_MS;
    const ask = (to: number, requests: readonly Buffer[], onLatency?: (latencyMs: number) => void) =>
      measureLatencies(to, requests, PAUSE_MS, () => goOn() && performance.now() < untilMs, onLatency);
    const asked = await Promise.all([
      ask(port, lists, (latencyMs) => service.noteLatency(latencyMs)),
      ask(port, users),
      ask(bare.port, lists),
    ]);
    asked.forEach((some, at) => {
      latenciesMs[at]!.push(...some);
    });
    if (goOn() || rates.length === 0) rates.push(await measureLoad(port, ring, PRESSURE, 300));
  } while (goOn());
  const [p99Ms, userP99Ms, bareP99Ms] = latenciesMs.map((some) => quantile(some, 0.99));
  return {
    perSecond: quantile(rates, 0.5),
    p99Ms: p99Ms!,
    userP99Ms: userP99Ms!,
    bareP99Ms: bareP99Ms!,
    longestMs: largest(latenciesMs[0]),
    stalls: service.stalls - stalls,
  };
}

/** One stage of a fit; times by stage add up over all times that it runs. */
interface Seen {
  seconds: number;
  peakMb: number;
  heapMb: number;
  readonly latenciesMs: number[];
}

/** A service whose metrics and log are read as it runs. */
class Watched {
  lists = 0;
  /** Number of times so far that the event loop was more than 50 ms late. */
  stalls = 0;
  private server!: ServerProcess;
  private stage = IDLE;
  private readonly seen = new Map<string, Seen>();
  private readonly budgets = new Map<string, number>();
  private over = false;
  private stopped = false;
  private watching: Promise<void> = Promise.resolve();

  static async start(folder: string, memoryMb: number): Promise<Watched> {
    const toml = `[database]
data_store = "lmdb://${dataPathOf(folder)}"
cache_store = "lmdb://${cachePathOf(folder)}"
[server]
port = 0
[worker]
memory_max_mb = ${memoryMb}
${TYPES_SECTION}[recommend.popular]
popular_window = "87600h"
[recommend.collaborative]
model_fit_period = "24h"
[recommend.offline]
check_recommend_period = "3s"
`;
    const watched = new Watched();
    watched.server = await startConfigured(folder, toml, [], (line) => watched.read(line));
    watched.watching = watched.watch();
    return watched;
  }

  get port(): number {
    return this.server.port;
  }

  get isOver(): boolean {
    if (this.server.hasEnded()) throw new Error('the service ended');
    return this.over;
  }

  /** Time for which lists have been made so far. */
  get listSeconds(): number {
    return this.seen.get(WRITING_RECOMMENDATIONS)?.seconds ?? 0;
  }

  get memoryMb(): number {
    return ownBytes(this.server.pid) / MB;
  }

  async fitBegins(): Promise<void> {
    while (this.seen.size === 0 && !this.isOver) await delay(WATCH_MS);
  }

  noteLatency(latencyMs: number): void {
    this.seen.get(this.stage)?.latenciesMs.push(latencyMs);
  }

  stages(): StageFigures[] {
    return Array.from(this.seen, ([stage, { latenciesMs, ...figures }]) => ({
      stage,
      ...figures,
      budgetedMb: this.budgets.get(stage.replace(/ on all feedback$/, '')) ?? Number.NaN,
      p99Ms: quantile(latenciesMs, 0.99),
    }));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.watching;
    await this.server.stop();
  }

  /** A line of the log. */
  private read(line: string): void {
    if (!line.startsWith('{')) return;
    const { stage, plannedMb, lists, level } = JSON.parse(line) as Record<string, unknown>;
    if (level === 'warn' || level === 40) console.error(line.slice(0, 600));
    if (typeof stage === 'string' && typeof plannedMb === 'number')
      this.budgets.set(stage, Math.max(plannedMb, this.budgets.get(stage) ?? 0));
    if (typeof lists === 'number') {
      this.lists = lists;
      this.over = true;
    }
  }

  private async watch(): Promise<void> {
    for (let last = performance.now(); !this.stopped && !this.server.hasEnded(); ) {
      const text = await fetch(`http://127.0.0.1:${this.port}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      );
      const number = (name: RegExp) => Number(name.exec(text)?.[1] ?? 0);
      const delays = number(/^furze_event_loop_delay_seconds_count (.*)$/m);
      this.stalls = delays - number(/^furze_event_loop_delay_seconds_bucket\{le="0.05"\} (.*)$/m);
      const stage = /^furze_fit_steps_done\{stage="([^"]*)"\}/m.exec(text)?.[1] ?? IDLE;
      if (stage === WRITING_RECOMMENDATIONS && !this.over)
        this.lists = number(/^furze_fit_steps_done\{.*\} (.*)$/m);
      const nowMs = performance.now();
      if (stage !== IDLE) this.see(stage, nowMs - last, number(/^nodejs_heap_size_used_bytes (.*)$/m) / MB);
      this.stage = stage;
      last = nowMs;
      await delay(WATCH_MS);
    }
  }

  private see(stage: string, lastedMs: number, heapMb: number): void {
    const seen = this.seen.get(stage) ?? { seconds: 0, peakMb: 0, heapMb: 0, latenciesMs: [] };
    if (stage !== this.stage) console.log(`  ${new Date().toISOString().slice(11, 19)} ${stage}`);
    seen.seconds += lastedMs / 1000;
    seen.peakMb = Math.max(seen.peakMb, this.memoryMb);
    seen.heapMb = Math.max(seen.heapMb, heapMb);
    this.seen.set(stage, seen);
  }
}

/** The largest of any number of values: a fit of an hour has more than a call may have arguments. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function fileBytes(folder: string): number {
  return statSync(join(folder, 'data.mdb')).size;
}
