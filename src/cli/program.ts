import { Command, CommanderError } from 'commander';
import { ConfigError, type Environment } from '../domain/config/config.ts';
import { FurzeError } from '../domain/errors.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { VERSION } from '../domain/process/version.ts';
import { ExitStatus, UsageError } from './exit-status.ts';
import { systemFault } from './system-fault.ts';

type CreateCommand = (env: Environment) => Promise<Command>;

/** In the order in which help lists them. Each is loaded when it is asked for: some bring packages that others do not need. */
const COMMANDS: Readonly<Record<string, CreateCommand>> = {
  serve: async (env) => (await import('./serve.ts')).serveCommand(env),
  playground: async (env) => (await import('./playground.ts')).playgroundCommand(env),
  init: async (env) => (await import('./init.ts')).initCommand(env),
  import: async (env) => (await import('./import.ts')).importCommand(env),
  export: async (env) => (await import('./export.ts')).exportCommand(env),
  migrate: async (env) => (await import('./migrate.ts')).migrateCommand(env),
  evaluate: async (env) => (await import('./evaluate.ts')).evaluateCommand(env),
  status: async (env) => (await import('./status.ts')).statusCommand(env),
  config: async (env) => (await import('./config.ts')).configCommand(env),
  compact: async (env) => (await import('./compact.ts')).compactCommand(env),
  check: async (env) => (await import('./check.ts')).checkCommand(env),
  backup: async (env) => (await import('./backup.ts')).backupCommand(env),
  restore: async (env) => (await import('./restore.ts')).restoreCommand(env),
};
const DEFAULT = 'serve';

/**
 * Runs the command line to its end; `serve` and `playground` end when the process is told to stop.
 * @param args arguments after the program's name
 * @returns the exit code: 0, 1 when a command failed, 2 when the arguments or the configuration are not valid; a command
 *   may have codes of its own
 */
export async function runProgram(args: readonly string[], env: Environment): Promise<number> {
  const [first = '', second = ''] = args;
  const names = Object.keys(COMMANDS);
  const asked = first === 'help' ? second : first;
  if (asked !== '' && !asked.startsWith('-') && ![...names, 'help'].includes(asked)) {
    process.stderr.write(
      `furze: there is no command ${JSON.stringify(asked)}; there are ${names.join(', ')} (see furze --help)\n`,
    );
    return 2;
  }
  try {
    const program = await createProgram(args, env);
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has written what it has to say by itself; help and version end this way too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ExitStatus) return error.code;
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      return 2;
    }
    if (error instanceof OperatorError || error instanceof FurzeError) {
      process.stderr.write(`furze: ${error.message}\n`);
      return error instanceof UsageError ? 2 : 1;
    }
    const fault = systemFault(error);
    if (fault !== undefined) {
      process.stderr.write(`furze: ${fault}\n`);
      return 1;
    }
    process.stderr.write(
      `furze: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  }
}

/** The command line with the commands that the arguments ask for. */
export async function createProgram(args: readonly string[], env: Environment): Promise<Command> {
  const program = new Command('furze')
    .description('A recommender service in one process and one data folder.')
    .version(VERSION)
    .exitOverride();
  const created = await Promise.all(
    namesAskedFor(args).map(async (name) => ({ name, command: await COMMANDS[name]!(env) })),
  );
  for (const { name, command } of created)
    program.addCommand(command.exitOverride().showHelpAfterError(`(see furze ${name} --help)`), {
      isDefault: name === DEFAULT,
    });
  return program;
}

/** All of them for the help that lists them. */
function namesAskedFor(args: readonly string[]): readonly string[] {
  const [first = '', second = ''] = args;
  const all = Object.keys(COMMANDS);
  if (first === 'help') return all.includes(second) ? [second] : all;
  if (all.includes(first)) return [first];
  if (first === '--version' || first === '-V') return [];
  return args.includes('--help') || args.includes('-h') ? all : [DEFAULT];
}
