import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { V8_FLAGS } from '../v8-flags.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const DEFAULTS = {
  // However slow the machine, what ends in order ends with 0.
  FURZE_SERVER_SHUTDOWN_TIMEOUT: '10m',
  // The same lists come of any number of threads, and each compiles the code for itself.
  FURZE_WORKER_THREADS: '1',
};

/** For fits of whole samples of which a test looks at no figure; `npm run package:check` makes one as it comes. */
export const QUICK_FIT = {
  FURZE_RECOMMEND_COLLABORATIVE_EPOCHS: '5',
  FURZE_RECOMMEND_COLLABORATIVE_FACTORS: '16',
  FURZE_RECOMMEND_OFFLINE_ENABLE_CLICK_THROUGH_PREDICTION: 'false',
};

/** The command line as a process of its own, run from the sources as they are compiled for tests. */
export class Furze {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  private text = '';

  /**
   * @param wrapper a program with its arguments that runs the command which follows them
   * @param cwd where it runs; the checkout when absent
   */
  constructor(
    args: readonly string[],
    env: Record<string, string> = {},
    wrapper: readonly string[] = [],
    cwd = ROOT,
  ) {
    const main = join(inject('compiled'), 'src/main.js');
    const [program, ...rest] = [...wrapper, process.execPath, ...V8_FLAGS, main, ...args];
    this.process = spawn(program as string, rest, {
      cwd,
      env: { PATH: process.env.PATH, ...DEFAULTS, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.text += chunk;
      });
    }
    // `close` comes after the last output.
    this.exit = new Promise((resolve) => this.process.once('close', resolve));
  }

  /** All that was written to both streams so far. */
  get output(): string {
    return this.text;
  }

  /** Resolves with the match once the output holds `pattern`. @throws Error when the process ends before */
  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    let ended = false;
    this.exit.then(() => {
      ended = true;
    });
    for (;;) {
      const match = pattern.exec(this.text);
      if (match !== null) return match;
      if (ended) throw new Error(`furze ended without ${pattern}: ${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sends the signal and gives the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    this.process.kill(signal);
    return this.exit;
  }
}
