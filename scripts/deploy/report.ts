import { spawnSync } from 'node:child_process';

/** What was checked, what failed, and what could not be checked here. */
export class Report {
  failures = 0;
  readonly skipped: string[] = [];

  check(name: string, isRight: boolean, detail = ''): void {
    console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}${isRight || detail === '' ? '' : `: ${detail}`}`);
    if (!isRight) this.failures++;
  }

  skip(name: string, why: string): void {
    console.log(`SKIPPED ${name}: ${why}`);
    this.skipped.push(name);
  }

  /** Checks by a program, or says loudly that it is not there. @returns what it wrote, undefined when it is not there */
  byProgram(name: string, program: string, args: readonly string[], input?: string): string | undefined {
    const run = spawnSync(program, args, { encoding: 'utf8', ...(input !== undefined && { input }) });
    if (run.error !== undefined) {
      this.skip(name, `${program} is not installed`);
      return undefined;
    }
    const output = `${run.stdout}${run.stderr}`;
    this.check(`${name} (${program})`, run.status === 0, output.slice(-1500));
    return output;
  }
}

export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}
