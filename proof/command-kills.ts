import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../src/domain/random.ts';
import { FurzeProcess, pause } from './furze-process.ts';

/** Commands are killed at most this long after they began: some before they do anything, some when they have done it. */
const BACKUP_MS_MAX = 900;
const INIT_MS_MAX = 4000;
const INIT_ROWS = 2000;

/** Backups, restores and set-ups that are killed, and then run again to their end. */
export class CommandKills {
  readonly kills = { backup: 0, restore: 0, init: 0 };
  /** What was not as it should be. */
  readonly wrong: string[] = [];
  private readonly folder: string;
  private count = 0;

  /** @param folder that of the service */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** A backup of the store and a restore of that, each cut off once. @param more options of the backup, as `--url` */
  async backupAndRestore(random: Random, more: readonly string[] = []): Promise<void> {
    const target = join(this.folder, `backup${this.count++}`);
    const into = `${target}-restored`;
    const source = more.length > 0 ? more : ['--data', join(this.folder, 'data')];
    const copied = await this.cutOffOnce('backup', ['backup', target, ...source, '--json'], target, random);
    const restored = await this.cutOffOnce(
      'restore',
      ['restore', target, '--data', into, '--json'],
      into,
      random,
    );
    for (const kind of ['users', 'items', 'feedback'] as const)
      if (copied?.[kind] !== restored?.[kind])
        this.wrong.push(`a backup has ${copied?.[kind]} ${kind}, restored ${restored?.[kind]}`);
    for (const folder of [target, into]) rmSync(folder, { recursive: true, force: true });
  }

  /** A set-up from a file, cut off once: it is run again, or has left a configuration and all of the data. */
  async init(random: Random): Promise<void> {
    const own = join(this.folder, `init${this.count++}`);
    const file = `${own}.csv`;
    const rows = Array.from(
      { length: INIT_ROWS },
      (_, at) => `u${at % 40},i${Math.floor(at / 40)},5,${1_700_000_000 + at * 60}`,
    );
    writeFileSync(file, `user,item,rating,timestamp\n${rows.join('\n')}\n`);
    const config = `${own}.toml`;
    const args = ['init', file, '--data', own, '--config', config, '--yes'];
    await this.killed('init', args, INIT_MS_MAX, random);
    const isWritten = () => readdirSync(this.folder).includes(`${own.slice(this.folder.length + 1)}.toml`);
    if (!isWritten()) {
      const again = await this.ended(args);
      if (again.child.exitCode !== 0)
        this.wrong.push(`init did not go on: ${again.child.exitCode} ${again.output.slice(-1000)}`);
    }
    const check = await this.ended(['check', own, '--json']);
    if (check.child.exitCode !== 0) this.wrong.push(`check after init: ${check.output.slice(-1000)}`);
    if (!check.output.includes(`"feedback": ${INIT_ROWS}`))
      this.wrong.push(`init has not stored ${INIT_ROWS} feedback: ${check.output.slice(0, 500)}`);
    rmSync(own, { recursive: true, force: true });
  }

  /**
   * A command that fills a folder, killed and run again. What is there after the kill is either all or nothing.
   * @returns what the run says that came to its end
   */
  private async cutOffOnce(
    kind: 'backup' | 'restore',
    args: readonly string[],
    target: string,
    random: Random,
  ): Promise<Record<string, number> | undefined> {
    await this.killed(kind, args, BACKUP_MS_MAX, random);
    const again = await this.ended(args);
    const isDone = again.child.exitCode === 0;
    if (!isDone && !/ already\. Nothing is written over it/.test(again.output)) {
      this.wrong.push(`${kind} did not go on: ${again.output.slice(-1000)}`);
      return undefined;
    }
    const left = readdirSync(target).filter((name) => name.startsWith('partial-'));
    if (isDone && left.length > 0) this.wrong.push(`${kind} has left ${left.join()}`);
    if (isDone) return JSON.parse(again.output) as Record<string, number>;
    // The kill came after its last step: what it left counts as whole, and must be.
    const copy = `${target}-again`;
    const whole = await this.ended(['backup', copy, '--data', target, '--json']);
    rmSync(copy, { recursive: true, force: true });
    return JSON.parse(whole.output) as Record<string, number>;
  }

  private async killed(
    kind: keyof CommandKills['kills'],
    args: readonly string[],
    msMax: number,
    random: Random,
  ): Promise<void> {
    const furze = FurzeProcess.start(args);
    await Promise.race([furze.ended, pause(random.below(msMax))]);
    if (furze.hasEnded) return;
    await furze.stop('SIGKILL');
    this.kills[kind]++;
  }

  private async ended(args: readonly string[]): Promise<FurzeProcess> {
    const furze = FurzeProcess.start(args);
    await furze.ended;
    return furze;
  }
}
