import { Argument, Command, Option } from 'commander';
import { type Environment, parseConfig } from '../../config/config.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { PRESETS, type Preset } from '../../exchange/known-data-sets.ts';
import { addColumnOptions, type ColumnFlags, splitList, wishesOf } from '../common/column-options.ts';
import { loadConfig } from '../common/load-config.ts';
import { configFlags, lockWaitOption, parseFolder, parseKnownPort } from '../common/options.ts';
import { describeSummary, readSummary } from '../common/set-up-summary.ts';
import { holdRecords } from '../import/import.ts';
import { type Answers, findAnswers } from './answers.ts';
import { dataFolderOf, findFolder } from './data-place.ts';
import { AnswerMissing, BadRows, type Places } from './given.ts';
import { createPrompt, type Prompt } from './prompt.ts';
import { sameCommand } from './same-command.ts';
import { setUp } from './set-up.ts';
import { refuseWrittenConfig } from './written-config.ts';

interface InitFlags extends ColumnFlags {
  readonly config: string;
  readonly data: string;
  readonly files?: readonly string[];
  readonly from: Preset;
  readonly positiveTypes?: readonly string[];
  readonly repeats?: 'count' | 'first';
  readonly port?: number;
  readonly apiKey?: string;
  readonly evaluate?: boolean;
  readonly skipBad?: boolean;
  readonly yes?: boolean;
  readonly show?: boolean;
  readonly json?: boolean;
  readonly lockWait: number;
}

const HELP = `
Asks on a terminal for what is not said, reads the files through, imports them, writes a configuration with comments,
trains, and prints what to try. --yes takes what is proposed: ratings from 70 % of the largest on, and types such as like,
star or purchase, are positive; rows of orders are purchases, those with a quantity below 0 returns. Nothing that is there
is written over, and where the import fails no folder is left.

Examples:
  furze init
  furze init products.csv ratings.csv --positive 4 --evaluate
  furze init --from movielens ml-1m/ --data ./films --config films.toml --yes`;

/** `furze init`: from files to a service with a configuration, data and a model. */
export function initCommand(env: Environment): Command {
  const command = new Command('init');
  addColumnOptions(command)
    .description('set a service up on your own files: configuration, import, training')
    .addArgument(new Argument('[files...]', 'feedback, items and users as for import'))
    .option('-c, --config <file>', 'configuration file to write', 'furze.toml')
    .option(
      '-d, --data <folder>',
      'where the data is kept, the cache in a folder below',
      parseFolder,
      './data',
    )
    .option('--files <files...>', 'the files, in place of arguments')
    .addOption(new Option('--from <set>', 'what the files come from').choices(PRESETS).default('csv'))
    .option('--positive-types <list>', 'types of feedback that are positive', splitList)
    .addOption(
      new Option('--repeats <which>', 'of what a user did several times with an item').choices([
        'count',
        'first',
      ]),
    )
    .option('-p, --port <port>', 'port to listen on (default: 8087)', parseKnownPort)
    .option('--api-key <key>', 'key that callers must send (default: none)')
    .option('--evaluate', 'tell how good the lists are, too')
    .option('--skip-bad', 'store the good rows of a file that has bad ones')
    .option('-y, --yes', 'ask nothing and take what is proposed')
    .option('--show', 'print how the configuration was set up, and do nothing')
    .option('--json', 'ask nothing, and print what was set up as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', HELP)
    .action(async (files: string[], flags: InitFlags) => {
      if (flags.show) {
        process.stdout.write(summaryIn(flags, env));
        return;
      }
      await refuseWrittenConfig(flags.config, env);
      const { answers, places } = await answersOf([...files, ...(flags.files ?? [])], flags, env, command);
      await setUp(answers, { ...places, json: flags.json === true, lockWait: flags.lockWait }, env);
    });
  return command;
}

/** @throws OperatorError where there is none */
function summaryIn({ config: path, data }: InitFlags, env: Environment): string {
  const config = loadConfig({ path, env, flags: data === './data' ? {} : configFlags({ data }) });
  const folder = dataFolderOf(config);
  const summary = folder === undefined ? undefined : readSummary(folder);
  if (summary === undefined)
    throw new OperatorError(
      `${path} and its data were not set up by furze init; furze config shows what is in effect`,
    );
  return describeSummary(summary);
}

async function answersOf(
  paths: readonly string[],
  flags: InitFlags,
  env: Environment,
  command: Command,
): Promise<{ answers: Answers; places: Places }> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && !flags.json;
  const prompt = hasTerminal ? createPrompt(process.stdin, process.stdout) : undefined;
  const takesProposals = flags.yes === true;
  const given = {
    paths,
    preset: flags.from,
    wishes: wishesOf(flags),
    positiveTypes: flags.positiveTypes,
    port: flags.port,
    // One in the environment goes before the file in any case.
    apiKey: flags.apiKey ?? (env.FURZE_SERVER_API_KEY === undefined ? undefined : ''),
    evaluates: flags.evaluate,
    skipsBad: flags.skipBad,
    sumsValues: flags.sumValues,
    repeats: flags.repeats,
    takesProposals,
  };
  let places: Places = { config: flags.config, data: flags.data, from: flags.from };
  try {
    const data = await placeOfData(flags, env, takesProposals ? undefined : prompt);
    places = { ...places, data };
    return { answers: await findAnswers(given, prompt), places };
  } catch (error) {
    if (error instanceof BadRows) {
      const { port, apiKey, evaluates, positiveTypes } = given;
      const said = {
        files: error.files,
        port,
        apiKey,
        evaluates,
        positiveTypes,
        skipsBad: true,
        takesProposals,
      };
      throw new OperatorError(`${error.message}:\n  ${sameCommand(said, places)}`);
    }
    if (error instanceof AnswerMissing)
      return command.error(`furze init: ${error.message} (there is no terminal to ask on)`, { exitCode: 2 });
    throw error;
  } finally {
    prompt?.close();
  }
}

/** The folder that the data goes to. @throws OperatorError when it holds other data and nobody is asked */
async function placeOfData(
  { data, lockWait }: InitFlags,
  env: Environment,
  prompt: Prompt | undefined,
): Promise<string> {
  const configOf = (folder: string) => parseConfig('', { ...configFlags({ data: folder }), ...env });
  const said = dataFolderOf(configOf(data));
  // One in the environment goes before, be it a database.
  if (said !== data) return data;
  return findFolder(data, (folder) => holdRecords(configOf(folder), lockWait), prompt);
}
