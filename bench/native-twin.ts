import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FLAGS = ['-std=c++17', '-O3', '-march=native', '-ffast-math'];

/** A folder for compiled twins; `undefined` when no C++ compiler is there. */
export function createNativeFolder(): string | undefined {
  if (spawnSync('g++', ['--version']).status !== 0) return undefined;
  return mkdtempSync(join(tmpdir(), 'furze-native-'));
}

export function removeNativeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A C++ twin in its own process, over a copy of the memory as it stood when the twin started. */
export class NativeTwin {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  /** @param numbers the job, in the order that the source file's first comment gives */
  constructor(folder: string, name: string, bytes: Uint8Array, numbers: readonly number[]) {
    const source = fileURLToPath(new URL(`./native/${name}.cpp`, import.meta.url));
    execFileSync('g++', [...FLAGS, source, '-o', join(folder, name)]);
    const file = join(folder, `${name}.memory`);
    writeFileSync(file, bytes);
    this.#child = spawn(join(folder, name), [file, ...numbers.map(String)]);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Runs the job once. @returns milliseconds */
  async run(): Promise<number> {
    this.#child.stdin.write('r');
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the C++ twin ended early');
    return Number(value);
  }

  close(): void {
    this.#child.stdin.end();
  }
}
