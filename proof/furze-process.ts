import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../test/v8-flags.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** A start that takes longer has failed. */
const START_MS_MAX = 600_000;

/** Configuration by environment variables, without the prefix, as in `SERVER_PORT`. */
export type Settings = Readonly<Record<string, string | number>>;

/** What every proof starts with: a free port, and what makes people's feedback count. */
const DEFAULTS: Settings = {
  SERVER_PORT: 0,
  RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like',
  RECOMMEND_DATA_SOURCE_READ_FEEDBACK_TYPES: 'read',
  RECOMMEND_COLLABORATIVE_FACTORS: 8,
  WORKER_THREADS: 2,
};

/** The built `furze` as a process of its own. */
export class FurzeProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  /** Everything it wrote. */
  output = '';
  private address: string | undefined;

  private constructor(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    wrapper: readonly string[],
    flags: readonly string[],
  ) {
    const [program, ...rest] = [...wrapper, process.execPath, ...flags, MAIN, ...args];
    this.child = spawn(program as string, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    this.ended = once(this.child, 'close').then(() => undefined);
  }

  /**
   * Starts a command and does not wait for it.
   * @param wrapper a program with its arguments that becomes the command which follows them
   */
  static start(
    args: readonly string[],
    settings: Settings = {},
    wrapper: readonly string[] = [],
    flags = V8_FLAGS,
  ): FurzeProcess {
    return new FurzeProcess(args, environment(settings), wrapper, flags);
  }

  /** Starts the service and waits until it is ready. @throws Error with its output when it ends before */
  static async serve(folder: string, settings: Settings = {}, flags = V8_FLAGS): Promise<FurzeProcess> {
    const furze = FurzeProcess.start(['serve'], inFolder(folder, settings), [], flags);
    await furze.ready();
    return furze;
  }

  /** Resolves once the service answers that it is ready. */
  async ready(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX;
    while (Date.now() < deadline) {
      if (this.hasEnded) throw new Error(`furze ended before it was ready:\n${this.output}`);
      this.address ??= /"url":"([^"]+)"/.exec(this.output)?.[1];
      if (this.address !== undefined) {
        const answer = await fetch(`${this.address}/api/health/ready`).catch(() => undefined);
        await answer?.body?.cancel();
        if (answer?.status === 200) return;
      }
      await pause(20);
    }
    this.child.kill('SIGKILL');
    throw new Error(`furze was not ready in ${START_MS_MAX / 1000} s:\n${this.output}`);
  }

  get url(): string {
    if (this.address === undefined) throw new Error('furze is not ready');
    return this.address;
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}

/** The settings of a service that keeps everything in `folder`. */
export function inFolder(folder: string, settings: Settings = {}): Settings {
  return {
    DATABASE_DATA_STORE: `lmdb://${folder}/data`,
    DATABASE_CACHE_STORE: `lmdb://${folder}/cache`,
    ...DEFAULTS,
    ...settings,
  };
}

function environment(settings: Settings): NodeJS.ProcessEnv {
  const own = Object.entries(settings).map(([name, value]) => [`FURZE_${name}`, String(value)]);
  // However slow the machine, what ends in order ends with 0.
  const patience = { FURZE_SERVER_SHUTDOWN_TIMEOUT: '10m' };
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...patience, ...Object.fromEntries(own) };
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
