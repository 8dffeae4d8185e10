import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FilePlan } from './import-plan.ts';
import { isStream } from './open-text-file.ts';

/** The progress of the import of a file: every line up to this one is stored. */
export interface ImportPosition {
  readonly line: number;
}

/** Remembers how far work has come, so that the same work goes on where it was cut off. */
export class ResumePoint<State> {
  private readonly path: string | undefined;

  /**
   * @param folder where it is kept; undefined where there is no place for it
   * @param work what tells this work from any other, as JSON; undefined for work that cannot be taken up again
   */
  constructor(folder: string | undefined, name: string, work: unknown) {
    if (folder === undefined || work === undefined) return;
    const hash = createHash('sha256').update(JSON.stringify(work)).digest('hex').slice(0, 16);
    this.path = join(folder, `furze-${name}-${hash}.json`);
  }

  read(): State | undefined {
    if (this.path === undefined) return undefined;
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as State;
    } catch {
      // None, or one that a full disk cut off: what is stored already is stored again, which changes nothing.
      return undefined;
    }
  }

  write(state: State): void {
    if (this.path === undefined) return;
    writeFileSync(`${this.path}.new`, JSON.stringify(state));
    renameSync(`${this.path}.new`, this.path);
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }
}

/**
 * The progress of the import of one file into one target. It belongs to the file as it is: another size or time of
 * change, another target or another reading of its columns begins anew.
 */
export function importResumePoint(
  folder: string | undefined,
  target: string,
  plan: FilePlan,
): ResumePoint<ImportPosition> {
  if (isStream(plan.path)) return new ResumePoint(folder, 'import', undefined);
  const { size, mtimeMs } = statSync(plan.path);
  const { reshape: _function, ...described } = plan;
  return new ResumePoint(folder, 'import', [resolve(plan.path), size, mtimeMs, target, described]);
}
