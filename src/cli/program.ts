import { Command, CommanderError } from 'commander';
import { ConfigError, type Environment } from '../config/config.ts';
import { hideUserInfo } from '../config/without-user-info.ts';
import { FurzeError, isEngineError } from '../domain/furze-error.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { openedFolders } from '../platform/process/supervisor-notes.ts';
import { VERSION } from '../platform/program/version.ts';
import { ExitStatus, UsageError } from './common/exit-status.ts';
import { systemFault } from './common/system-fault.ts';

type CreateCommand = (env: Environment) => Promise<Command>;

/** In the order in which help lists them. Each is loaded when it is asked for: some bring packages that others do not need. */
const COMMANDS = {
  serve: async (env) => (await import('./commands/serve.ts')).serveCommand(env),
  playground: async (env) => (await import('./playground/playground.ts')).playgroundCommand(env),
  init: async (env) => (await import('./init/init.ts')).initCommand(env),
  import: async (env) => (await import('./import/import.ts')).importCommand(env),
  export: async (env) => (await import('./commands/export.ts')).exportCommand(env),
  model: async (env) => (await import('./commands/model.ts')).modelCommand(env),
  migrate: async (env) => (await import('./commands/migrate.ts')).migrateCommand(env),
  evaluate: async (env) => (await import('./commands/evaluate.ts')).evaluateCommand(env),
  status: async (env) => (await import('./commands/status.ts')).statusCommand(env),
  config: async (env) => (await import('./commands/config.ts')).configCommand(env),
  compact: async (env) => (await import('./commands/compact.ts')).compactCommand(env),
  check: async (env) => (await import('./commands/check.ts')).checkCommand(env),
  backup: async (env) => (await import('./commands/backup.ts')).backupCommand(env),
  restore: async (env) => (await import('./commands/restore.ts')).restoreCommand(env),
} as const satisfies Readonly<Record<string, CreateCommand>>;

/** Names that the first argument may have. */
export type CommandName = keyof typeof COMMANDS;

const NAMES = Object.keys(COMMANDS) as CommandName[];
const DEFAULT: CommandName = 'serve';

/**
 * Runs the command line to its end; `serve` and `playground` end when the process is told to stop.
 * @param args arguments after the program's name
 * @returns the exit code: 0, 1 when a command failed, 2 when the arguments or the configuration are not valid; a command
 *   may have codes of its own
 */
export async function runProgram(args: readonly string[], env: Environment): Promise<number> {
  const [first = '', second = ''] = args;
  const asked = first === 'help' ? second : first;
  if (asked !== '' && !asked.startsWith('-') && asked !== 'help' && !isName(asked)) {
    const given = JSON.stringify(asked);
    write(`furze: there is no command ${given}; there are ${NAMES.join(', ')} (see furze --help)\n`, args);
    return 2;
  }
  try {
    const program = await createProgram(args, env);
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    return tell(error, args);
  }
}

/** Says what went wrong, where that is not said yet. @returns the exit code */
async function tell(error: unknown, args: readonly string[]): Promise<number> {
  // Commander has written what it has to say by itself; help and version end this way too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ExitStatus) return error.code;
  if (error instanceof ConfigError) {
    write(`${error.message}\n`, args);
    return 2;
  }
  const isUsage = error instanceof UsageError;
  write(`furze: ${await inWords(error)}\n`, args);
  return isUsage ? 2 : 1;
}

/** Writes a message that may quote an argument. */
function write(message: string, args: readonly string[]): void {
  process.stderr.write(hideUserInfo(message, args));
}

async function inWords(error: unknown): Promise<string> {
  const isExpected = error instanceof OperatorError || error instanceof FurzeError;
  const words = isExpected ? error.message : systemFault(error);
  // Damage to a store shows in an error of the engine that reads it, or in one that no code expects.
  const mayBeDamage = words === undefined || /\bMDB_[A-Z]/.test(words);
  if (mayBeDamage && openedFolders().length > 0) {
    const { findDamage } = await import('../store/open/open-store.ts');
    const damage = await findDamage(openedFolders());
    if (damage !== undefined) return damage;
  }
  return words ?? describeFault(error);
}

/** One line for an error that no code expects; the place in the program is for those who look for its fault. */
function describeFault(error: unknown): string {
  const { message = String(error), stack, syscall } = error as Partial<NodeJS.ErrnoException>;
  if (process.env.DEBUG === 'furze' && stack !== undefined) return stack;
  const [line] = message.split('\n');
  if (syscall !== undefined) return line!;
  return isEngineError(error)
    ? `the store cannot be opened, read or written: ${line}`
    : `a fault of the program: ${line} (DEBUG=furze in the environment shows where)`;
}

/** The command line with the commands that the arguments ask for. */
export async function createProgram(args: readonly string[], env: Environment): Promise<Command> {
  const program = new Command('furze')
    .description('A recommender service in one process and one data folder.')
    .version(VERSION)
    .exitOverride();
  const created = await Promise.all(
    namesAskedFor(args).map(async (name) => ({ name, command: await COMMANDS[name](env) })),
  );
  const output = { writeErr: (text: string) => write(text, args) };
  program.configureOutput(output);
  for (const { name, command } of created) {
    // Commander hands its settings on to commands of a command only as these are made.
    for (const each of [command, ...command.commands]) {
      const asked = each === command ? name : `${name} ${each.name()}`;
      each.exitOverride().showHelpAfterError(`(see furze ${asked} --help)`).configureOutput(output);
    }
    program.addCommand(command, { isDefault: name === DEFAULT });
  }
  return program;
}

/** All of them for the help that lists them. */
function namesAskedFor(args: readonly string[]): readonly CommandName[] {
  const [first = '', second = ''] = args;
  if (first === 'help') return isName(second) ? [second] : NAMES;
  if (isName(first)) return [first];
  if (first === '--version' || first === '-V') return [];
  return args.includes('--help') || args.includes('-h') ? NAMES : [DEFAULT];
}

function isName(text: string): text is CommandName {
  return (NAMES as readonly string[]).includes(text);
}
