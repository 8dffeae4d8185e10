/** A service from its start to the end of its first fit, watched from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { WRITING_RECOMMENDATIONS } from '../../src/background/tasks/progress-tracker.ts';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest } from '../http/connection.ts';
import { measureLatencies, measureLoad, RequestRing } from '../http/load.ts';
import { cachePathOf, dataPathOf, MAIN } from '../http/processes.ts';
import { quantile } from '../http/statistics.ts';
import { ownBytes } from '../http/training-memory.ts';
import { userIdOf, type WorldSize } from '../http/world.ts';

const MB = 2 ** 20;
const WATCH_MS = 200;
/** Users asked for, each again and again. */
const ASKED_USERS = 2000;
const PRESSURE = { connections: 16, depth: 1 };
/** Between an answer and the next question of those whose time is taken. */
const PAUSE_MS = 2;
/** Number and length of the loads during a fit. */
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
}

/** Samples of the requests in one state of the service. */
export interface RequestFigures {
  readonly perSecond: number;
  readonly p99Ms: number;
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

/** Writes the configuration of the service in a folder. @returns its path */
function writeConfig(folder: string, memoryMb: number): string {
  const path = join(folder, 'furze.toml');
  writeFileSync(
    path,
    `[database]
data_store = "lmdb://${dataPathOf(folder)}"
cache_store = "lmdb://${cachePathOf(folder)}"
[server]
port = 0
[worker]
memory_max_mb = ${memoryMb}
[recommend.data_source]
positive_feedback_types = ["like"]
[recommend.popular]
popular_window = "87600h"
[recommend.collaborative]
model_fit_period = "24h"
[recommend.offline]
check_recommend_period = "3s"
`,
  );
  return path;
}

/** Starts the service, follows its first fit to the end of the lists or of the time for them, asks an idle service the same, and starts it again. */
export async function followFirstFit(options: CourseOptions): Promise<CourseFigures> {
  const config = writeConfig(options.folder, options.memoryMb);
  const course = await whileServing(config, (service, readySeconds) =>
    follow(service, readySeconds, options),
  );
  const restartSeconds = await whileServing(config, async (_, seconds) => seconds);
  return { ...course, restartSeconds };
}

/** @param watch is told the seconds from the start of the process until it was ready */
async function whileServing<T>(
  config: string,
  watch: (service: Watched, readySeconds: number) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const service = new Watched(config);
  try {
    const { ok, status } = await fetch(`http://127.0.0.1:${await service.port}/api/health/ready`);
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
  const port = await service.port;
  const random = createRandom(5);
  const requests = Array.from({ length: ASKED_USERS }, () =>
    getRequest(`/api/recommend/${userIdOf(random.below(size.users))}?n=10`),
  );
  const startMb = service.memoryMb;
  await service.fitBegins();
  const isFollowed = () => !service.isOver && service.listSeconds < listSecondsMax;
  const fitting = await measureRequests(service, port, requests, isFollowed);
  const untilMs = performance.now() + idleMs;
  const idle = service.isOver
    ? await measureRequests(service, port, requests, () => performance.now() < untilMs)
    : undefined;
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
  port: number,
  requests: readonly Buffer[],
  goOn: () => boolean,
): Promise<RequestFigures> {
  const ring = new RequestRing(requests);
  const latenciesMs: number[] = [];
  const rates: number[] = [];
  const stalls = service.stalls;
  do {
    const untilMs = performance.now() + LOAD_EVERY_MS;
    latenciesMs.push(
      ...(await measureLatencies(port, requests, PAUSE_MS, () => goOn() && performance.now() < untilMs)),
    );
    if (goOn() || rates.length === 0) rates.push(await measureLoad(port, ring, PRESSURE, 300));
  } while (goOn());
  return {
    perSecond: quantile(rates, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    longestMs: largest(latenciesMs),
    stalls: service.stalls - stalls,
  };
}

interface Sample {
  readonly stage: string;
  readonly atMs: number;
  readonly ownMb: number;
  readonly heapMb: number;
}

/** A service whose metrics and log are read as it runs. */
class Watched {
  readonly port: Promise<number>;
  lists = 0;
  /** Number of times so far that the event loop was more than 50 ms late. */
  stalls = 0;
  private readonly child: ChildProcess;
  private readonly samples: Sample[] = [];
  private readonly budgets = new Map<string, number>();
  private readonly seconds = new Map<string, number>();
  private begun = false;
  private over = false;
  private watching: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(config: string) {
    this.child = spawn(process.execPath, [MAIN, 'serve', '--config', config], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.port = new Promise((resolve, reject) => {
      this.child.once('exit', (code) => {
        this.stopped = true;
        reject(new Error(`the service ended with ${code}`));
      });
      createInterface({ input: this.child.stdout! }).on('line', (line) => {
        const port = Number(/"url":"http:[^"]*:(\d+)"/.exec(line)?.[1]);
        if (port > 0) {
          this.watching = this.watch(port);
          resolve(port);
        }
        this.read(line);
      });
    });
  }

  get isOver(): boolean {
    if (this.stopped) throw new Error('the service ended');
    return this.over;
  }

  /** Time for which lists have been made so far. */
  get listSeconds(): number {
    return this.seconds.get(WRITING_RECOMMENDATIONS) ?? 0;
  }

  get memoryMb(): number {
    return ownBytes(this.child.pid!) / MB;
  }

  async fitBegins(): Promise<void> {
    while (!this.begun && !this.isOver) await pause(WATCH_MS);
  }

  stages(): StageFigures[] {
    const names = [...new Set(this.samples.map(({ stage }) => stage))].filter((stage) => stage !== IDLE);
    return names.map((stage) => {
      const of = this.samples.filter((sample) => sample.stage === stage);
      return {
        stage,
        seconds: this.seconds.get(stage) ?? 0,
        peakMb: largest(of.map(({ ownMb }) => ownMb)),
        heapMb: largest(of.map(({ heapMb }) => heapMb)),
        budgetedMb: this.budgets.get(stage.replace(/ on all feedback$/, '')) ?? Number.NaN,
      };
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.watching;
    if (this.child.exitCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
  }

  /** A line of the log. */
  private read(line: string): void {
    if (!line.startsWith('{')) return;
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { stage, plannedMb, lists, level } = entry;
    if (Number(level) >= 40 || level === 'warn' || level === 'error') console.error(line.slice(0, 600));
    if (typeof stage === 'string' && typeof plannedMb === 'number')
      this.budgets.set(stage, Math.max(plannedMb, this.budgets.get(stage) ?? 0));
    if (typeof lists === 'number') {
      this.lists = lists;
      this.over = true;
    }
  }

  private async watch(port: number): Promise<void> {
    const number = (name: RegExp, text: string) => Number(name.exec(text)?.[1] ?? 0);
    for (let last = performance.now(); !this.stopped; ) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text().catch(() => '');
      const atMs = performance.now();
      const delays = number(/^furze_event_loop_delay_seconds_count (.*)$/m, text);
      this.stalls = delays - number(/^furze_event_loop_delay_seconds_bucket\{le="0.05"\} (.*)$/m, text);
      const stage = /^furze_fit_steps_done\{stage="([^"]*)"\}/m.exec(text)?.[1] ?? IDLE;
      const heapMb = number(/^nodejs_heap_size_used_bytes (.*)$/m, text) / MB;
      this.begun ||= stage !== IDLE;
      if (stage === WRITING_RECOMMENDATIONS && !this.over)
        this.lists = number(/^furze_fit_steps_done\{.*\} (.*)$/m, text);
      if (stage !== IDLE) this.seconds.set(stage, (this.seconds.get(stage) ?? 0) + (atMs - last) / 1000);
      if (stage !== this.samples.at(-1)?.stage && stage !== IDLE)
        console.log(`  ${new Date().toISOString().slice(11, 19)} ${stage}`);
      this.samples.push({ stage, atMs, ownMb: this.memoryMb, heapMb });
      last = atMs;
      await pause(WATCH_MS);
    }
  }
}

/** The largest of any number of values: a fit of an hour has more than a call may have arguments. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function fileBytes(folder: string): number {
  return statSync(join(folder, 'data.mdb')).size;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
