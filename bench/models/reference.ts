import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Interactions } from '../../src/dataset/interactions.ts';
import type { Times } from './model-case.ts';

const SCRIPT = fileURLToPath(new URL('../python/implicit_bench.py', import.meta.url));

export interface ReferenceAnswer extends Times {
  readonly factors?: number;
}

/** The package `implicit` in a process of its own, which works only while a request is under way. */
export class Reference {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  /** @returns undefined when this Python cannot import the package */
  static async start(python: string, data: Interactions, threads: number): Promise<Reference | undefined> {
    if (spawnSync(python, ['-c', 'import implicit'], { stdio: 'ignore' }).status !== 0) return undefined;
    const folder = mkdtempSync(join(tmpdir(), 'furze-bench-'));
    writeFileSync(join(folder, 'user_items.indptr'), data.byUser.indptr);
    writeFileSync(join(folder, 'user_items.indices'), data.byUser.indices);
    const shape = [data.userCount, data.itemCount, threads].map(String);
    const child = spawn(python, [SCRIPT, folder, ...shape], { stdio: ['pipe', 'pipe', 'ignore'] });
    const reference = new Reference(folder, child);
    await reference.#answer('start');
    return reference;
  }

  /** @throws Error when the process ended in place of an answer */
  async run(work: string, settings: Readonly<Record<string, number>> = {}): Promise<ReferenceAnswer> {
    this.#child.stdin!.write(`${JSON.stringify({ work, ...settings })}\n`);
    return (await this.#answer(work)) as ReferenceAnswer;
  }

  /** The factors that `als_fit` left. */
  factors(name: 'user_factors' | 'item_factors'): Float32Array {
    const bytes = readFileSync(join(this.folder, name));
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }

  close(): void {
    this.#child.stdin!.end();
    this.#child.kill();
    rmSync(this.folder, { recursive: true });
  }

  async #answer(work: string): Promise<unknown> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`the reference ended during ${work}`);
    return JSON.parse(line.value);
  }
}
