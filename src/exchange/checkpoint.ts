import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { STDIN } from './open-text.ts';
import type { FilePlan } from './plan.ts';

/** How far an import has come: every line up to this one is stored. */
export interface CheckpointState {
  readonly line: number;
  readonly stored: number;
}

/**
 * Remembers how far the import of one file into one target has come, so that the same command goes on where it was cut
 * off. It belongs to the file as it is: another size or time of change, another target or another reading of its
 * columns begins anew.
 */
export class Checkpoint {
  private readonly path: string | undefined;

  /** @param folder where it is kept */
  constructor(folder: string, target: string, plan: FilePlan) {
    if (plan.path === STDIN) return;
    const { size, mtimeMs } = statSync(plan.path);
    const { reshape: _function, ...described } = plan;
    const name = JSON.stringify([resolve(plan.path), size, mtimeMs, target, described]);
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
    this.path = join(folder, `furze-import-${hash}.json`);
  }

  read(): CheckpointState | undefined {
    if (this.path === undefined) return undefined;
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as CheckpointState;
    } catch {
      // None, or one that a full disk cut off: what is stored already is stored again, which changes nothing.
      return undefined;
    }
  }

  write(state: CheckpointState): void {
    if (this.path === undefined) return;
    writeFileSync(`${this.path}.new`, JSON.stringify(state));
    renameSync(`${this.path}.new`, this.path);
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }
}
