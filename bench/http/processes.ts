import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import type { EngineName } from '../../src/http/engine/engine.ts';
import { chooseEngine, type EngineWish } from '../../src/http/engine/engine-choice.ts';
import { useCompiledThreads } from '../../src/platform/program/thread-entry.ts';
import { openStore, type Stores } from '../../src/store/open/open-store.ts';
import { V8_FLAGS } from '../../test/v8-flags.ts';

// As they are shipped; from sources each compiles them for itself.
useCompiledThreads(new URL('../../src/', import.meta.url), new URL('../../dist/', import.meta.url));

/** Of services: those of users, or, in a run of which no figure is one, those of tests, which optimize later. */
export const SERVICE_FLAGS = process.argv.includes('--smoke') ? V8_FLAGS : [];
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** A tick of /proc. */
const TICK_MS = 10;
const BARE = fileURLToPath(new URL('./bare-server.ts', import.meta.url));

export const POSITIVE_TYPES = ['like'];
export const READ_TYPES = ['read'];

/** A server in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** Processor time of its main thread so far in milliseconds, NaN where the system does not tell. */
  cpuMs(): number;
  /** The same of all its threads. */
  allCpuMs(): number;
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Runs something with a folder of its own, which goes with it. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Engines of HTTP that load here. */
export function engines(): readonly EngineName[] {
  return chooseEngine('auto').name === 'uws' ? ['uws', 'node'] : ['node'];
}

export function dataPathOf(folder: string): string {
  return join(folder, 'data');
}

export function cachePathOf(folder: string): string {
  return join(folder, 'cache');
}

/** Form of the benches' feedback. */
export const WRITE_RULES = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: POSITIVE_TYPES,
  readFeedbackTypes: READ_TYPES,
};

/** The stores of a folder whose service is stopped, by the rules of `startService`. */
export function openFolder(folder: string, sync: 'commit' | 'disk' = 'commit'): Stores {
  return openStore({
    dataPath: dataPathOf(folder),
    cachePath: cachePathOf(folder),
    sync,
    ...WRITE_RULES,
  });
}

/** The part of a configuration that says what feedback counts as. */
const typesSection = (positiveTypes: readonly string[]) => `[recommend.data_source]
positive_feedback_types = ${JSON.stringify(positiveTypes)}
read_feedback_types = ${JSON.stringify(READ_TYPES)}
`;
/** That of the benches' world. */
export const TYPES_SECTION = typesSection(POSITIVE_TYPES);

/** Options of the service for one bench. */
export interface ServiceWishes {
  /** Threads that train; 0 for one a core. */
  readonly threads?: number;
  /** Time to the first fit as a period of the configuration; positive feedback that comes to rest begins one before. */
  readonly firstFitAfter?: string;
  /** False where no feedback is to count as positive, so that nothing is learned however long it runs. */
  readonly learns?: boolean;
  /** Engine that speaks HTTP. */
  readonly engine?: EngineWish;
  /** Further sections of the configuration. */
  readonly more?: string;
}

/** Starts the built service on a folder, as production runs it, with one worker unless more are wished for. */
export async function startService(
  folder: string,
  nodeOptions: readonly string[] = [],
  { threads = 1, firstFitAfter = '24h', learns = true, engine = 'auto', more = '' }: ServiceWishes = {},
): Promise<ServerProcess> {
  return startConfigured(
    folder,
    `[database]
data_store = "lmdb://${dataPathOf(folder)}"
cache_store = "lmdb://${cachePathOf(folder)}"
[server]
port = 0
http_engine = "${engine}"
[worker]
threads = ${threads}
${learns ? TYPES_SECTION : typesSection(['never'])}[recommend.collaborative]
model_fit_period = "24h"
[recommend.offline]
check_recommend_period = "${firstFitAfter}"
${more}`,
    nodeOptions,
  );
}

/**
 * Starts the built service with the text of a configuration file, in a folder that is there.
 * @param onLine is told each line of its log
 */
export async function startConfigured(
  folder: string,
  toml: string,
  nodeOptions: readonly string[] = [],
  onLine: (line: string) => void = () => {},
): Promise<ServerProcess> {
  const config = join(folder, 'furze.toml');
  await writeFile(config, toml);
  return start([...SERVICE_FLAGS, ...nodeOptions, MAIN, 'serve', '--config', config], folder, (line) => {
    onLine(line);
    return Number(/"url":"http:[^"]*:(\d+)"/.exec(line)?.[1]);
  });
}

/** Starts an engine with a bare handler that answers everything with a body of `bodyBytes`. */
export function startBare(
  bodyBytes: number,
  engine: EngineName = chooseEngine('auto').name,
): Promise<ServerProcess> {
  return start(['--import', 'tsx', BARE, engine, String(bodyBytes)], undefined, Number);
}

async function start(
  args: readonly string[],
  cwd: string | undefined,
  portIn: (line: string) => number,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await readPort(child, portIn);
  return {
    port,
    pid: child.pid!,
    cpuMs: () => threadCpuMs(child.pid!, child.pid!),
    allCpuMs: () => processCpuMs(child.pid!),
    hasEnded: () => child.exitCode !== null,
    async stop() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function readPort(child: ChildProcess, portIn: (line: string) => number): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a server ended with ${code} before it listened`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (/"level":(50|60|"error"|"fatal")/.test(line)) console.error(line);
      const port = portIn(line);
      if (port > 0) resolve(port);
    });
  });
}

/** Processor time of a process in milliseconds, threads that have ended among it, in steps of 10; NaN where the system does not tell. */
export function processCpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a process that is no page of a file, bytes; NaN where the system does not tell. */
export function ownBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** Processor time of one thread in milliseconds, NaN where the system does not tell. */
export function threadCpuMs(pid: number, thread: number | string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
