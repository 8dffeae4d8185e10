import { Command, CommanderError } from 'commander';
import { ConfigError, type Environment } from '../domain/config.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { VERSION } from '../domain/version.ts';
import { backupCommand } from './backup.ts';
import { checkCommand } from './check.ts';
import { compactCommand } from './compact.ts';
import { configCommand } from './config.ts';
import { evaluateCommand } from './evaluate.ts';
import { ExitStatus } from './exit-status.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { initCommand } from './init.ts';
import { playgroundCommand } from './playground.ts';
import { restoreCommand } from './restore.ts';
import { serveCommand } from './serve.ts';
import { statusCommand } from './status.ts';

/**
 * Runs the command line to its end; `serve` and `playground` end when the process is told to stop.
 * @param args arguments after the program's name
 * @returns the exit code: 0, 1 when a command failed, 2 when the arguments or the configuration are not valid; a command
 *   may have codes of its own
 */
export async function runProgram(args: readonly string[], env: Environment): Promise<number> {
  const program = new Command('furze')
    .description('A recommender service in one process and one data folder.')
    .version(VERSION)
    .exitOverride()
    .addCommand(serveCommand(env), { isDefault: true })
    .addCommand(playgroundCommand(env))
    .addCommand(initCommand(env))
    .addCommand(importCommand(env))
    .addCommand(exportCommand(env))
    .addCommand(evaluateCommand(env))
    .addCommand(statusCommand(env))
    .addCommand(configCommand(env))
    .addCommand(compactCommand(env))
    .addCommand(checkCommand(env))
    .addCommand(backupCommand(env))
    .addCommand(restoreCommand(env));
  for (const command of program.commands) command.exitOverride();
  const names = program.commands.map((command) => command.name());
  const [first = ''] = args;
  if (first !== '' && !first.startsWith('-') && ![...names, 'help'].includes(first)) {
    process.stderr.write(
      `furze: there is no command ${JSON.stringify(first)}; there are ${names.join(', ')} (see furze --help)\n`,
    );
    return 2;
  }
  try {
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
    if (error instanceof OperatorError) {
      process.stderr.write(`furze: ${error.message}\n`);
      return 1;
    }
    process.stderr.write(
      `furze: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  }
}
