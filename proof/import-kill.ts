import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../src/domain/random.ts';
import { FurzeProcess, inFolder, pause } from './furze-process.ts';
import type { Records } from './writer.ts';

const ROWS = 3000;
const IMPORT_MS_MAX = 1500;

/** Imports that are killed and then run again to their end, and what they have to have stored. */
export class ImportKills {
  /** Imports that were cut off. */
  kills = 0;
  private readonly expected: string[] = [];
  private count = 0;
  private readonly folder: string;

  /** @param folder that of the service; the files are put beside its stores */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** One import, while no service runs. @throws Error when the second run of it fails */
  async once(random: Random): Promise<void> {
    const name = `import${this.count++}`;
    const pairs = Array.from({ length: ROWS }, (_, at) => [
      `${name}-u${at % 50}`,
      `${name}-i${Math.floor(at / 50)}`,
    ]);
    const file = join(this.folder, `${name}.csv`);
    writeFileSync(
      file,
      `user_id,item_id,timestamp\n${pairs.map((pair) => `${pair.join()},2024-05-01\n`).join('')}`,
    );
    const args = ['import', 'feedback', file, '--data', join(this.folder, 'data'), '--type', 'like'];
    if (this.count % 2 === 0) args.push('--json');
    const settings = inFolder(this.folder);
    const first = FurzeProcess.start(args, settings);
    await Promise.race([first.ended, pause(random.below(IMPORT_MS_MAX))]);
    if (!first.hasEnded) {
      await first.stop('SIGKILL');
      this.kills++;
    }
    const second = FurzeProcess.start(args, settings);
    await second.ended;
    if (second.child.exitCode !== 0)
      throw new Error(`the import did not go on:\n${second.output.slice(-2000)}`);
    this.expected.push(...pairs.map(([user, item]) => `${user} ${item}`));
  }

  /** Imported feedback that is not stored. */
  missing({ feedback }: Records): string[] {
    return this.expected.filter((pair) => !feedback.has(pair));
  }
}
