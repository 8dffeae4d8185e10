import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import {
  type OpenedFolder,
  SUDDEN_ENDS,
  type SupervisorNote,
  tellSupervisor,
} from '../platform/process/supervisor-notes.ts';
import { isNodeItself } from './common/command-name.ts';
import type { CommandName } from './program.ts';

/*
 * A damaged page of a store ends the process that reads it by a signal, and no code of its own runs after that. Commands that
 * read stores therefore run in a process of their own, and the one that was begun waits, passes signals on, and says what
 * happened. It loads next to nothing, so that this costs what an empty Node.js costs.
 */

/** A service is long-lived, has a log and whoever starts it again: these are not supervised. */
const READS_STORES: readonly CommandName[] = [
  'init',
  'import',
  'export',
  'migrate',
  'evaluate',
  'compact',
  'backup',
  'restore',
];

/** Set for the process that is supervised; furze's configuration never sees it. */
const MARK = 'FURZE_SUPERVISED';

/** Signals that are meant for the command. Its process has a session of its own, so none reaches it by a terminal, too. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGWINCH', 'SIGCONT'] as const;

/** True when the command of these arguments runs in a child process. */
export function isToBeSupervised(
  [command = '', ...rest]: readonly string[],
  env: NodeJS.ProcessEnv,
): boolean {
  if (process.platform === 'win32' || env[MARK] !== undefined) return false;
  const asksForHelp = rest.includes('--help') || rest.includes('-h');
  return !asksForHelp && READS_STORES.some((name) => name === command);
}

/** In the process that is supervised: tells the other one what there is to know, and ends with it. */
export function obeySupervisor(env: NodeJS.ProcessEnv): void {
  if (env[MARK] === undefined) return;
  delete env[MARK];
  const send = process.send?.bind(process);
  if (send === undefined) return;
  // What cannot be told is not worth a fault: the other process is gone, and so is this one at once.
  tellSupervisor((note) => process.connected && send(note, undefined, undefined, () => {}));
  // Whoever killed the process that was begun meant this one.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

/** Facts about the process that is supervised. */
class Notes {
  readonly opened: OpenedFolder[] = [];
  readonly unfinished = new Set<string>();

  take(note: SupervisorNote): void {
    if ('opened' in note) this.opened.push(note.opened);
    else if ('unfinished' in note) this.unfinished.add(note.unfinished);
    else this.unfinished.delete(note.settled);
  }
}

/**
 * Runs the command line in a process of its own, which has this one's streams, and ends as that one ends; when it was a
 * damaged page that ended it, with a line about it and exit code 1.
 * @param program this program's own file
 * @returns the exit code; undefined where no process can be started
 */
export async function runSupervised(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const begun = process.argv[1];
  // The name by which it was begun stands in what the command advises; a package of one file has its program inside.
  const script = isNodeItself(process.execPath) && begun !== undefined ? begun : program;
  const notes = new Notes();
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...env, [MARK]: '1' },
    detached: true,
  });
  child.on('message', (note: unknown) => notes.take(note as SupervisorNote));
  const stopPassing = passSignals(child);
  const ended = await endOf(child).finally(stopPassing);
  if (ended === undefined) return undefined;
  for (const path of notes.unfinished) rmSync(path, { recursive: true, force: true });
  const { code, signal } = ended;
  if (signal === null) return code ?? 1;
  if (!SUDDEN_ENDS.includes(signal)) return endBy(signal);
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  process.stderr.write(`furze: ${await explain(args[0]!, signal, notes.opened)}\n`);
  return 1;
}

/** Resolves when the process has ended and all its notes are there; with undefined where it could not be started. */
async function endOf(child: ChildProcess) {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (child.connected) await once(child, 'disconnect');
    return { code, signal };
  } catch (error) {
    if (child.pid !== undefined) throw error;
    return undefined;
  }
}

/** @returns ends it */
function passSignals(child: ChildProcess): () => void {
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  const pause = () => {
    child.kill('SIGSTOP');
    process.kill(process.pid, 'SIGSTOP');
  };
  for (const signal of PASSED_ON) process.on(signal, passOn);
  process.on('SIGTSTP', pause);
  return () => {
    for (const signal of PASSED_ON) process.off(signal, passOn);
    process.off('SIGTSTP', pause);
  };
}

/** Ends this process by the signal that has ended the other one. */
function endBy(signal: NodeJS.Signals): number {
  process.kill(process.pid, signal);
  // The first process of a container does not end by itself.
  return 128 + constants.signals[signal];
}

async function explain(
  command: string,
  signal: NodeJS.Signals,
  opened: readonly OpenedFolder[],
): Promise<string> {
  const { findDamage } = await import('../store/open/open-store.ts');
  const damage = await findDamage(opened);
  if (damage !== undefined) return damage;
  const sound = opened.map(({ path }) => path).join(' and ');
  return (
    `"furze ${command}" was ended by ${signal}, for want of memory or by a fault of the program` +
    (sound === '' ? '.' : `; no page of ${sound} is damaged.`)
  );
}
