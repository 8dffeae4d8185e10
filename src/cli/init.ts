import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { baseUrl } from '../domain/base-url.ts';
import { type Config, defaultConfig, type Environment, parseConfig } from '../domain/config/config.ts';
import { configTemplate } from '../domain/config/print.ts';
import { parseDuration } from '../domain/duration.ts';
import { messageOf } from '../domain/errors.ts';
import { createLogger } from '../domain/log.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { PRESETS, type Preset } from '../exchange/presets.ts';
import type { Service } from '../service.ts';
import { addColumnOptions, type ColumnFlags, wishesOf } from './column-options.ts';
import { commandName } from './command-name.ts';
import { describeReport, EVALUATE_DEFAULTS, evaluateFolder } from './evaluate.ts';
import { ExitStatus } from './exit-status.ts';
import { keyOf } from './find-service.ts';
import { REFUSED } from './import/run-import.ts';
import { importInto } from './import.ts';
import { AnswerMissing, type Answers, findAnswers, splitList } from './init/answers.ts';
import { describeNext, type Example, findExample, requestsOf } from './init/example.ts';
import { createPrompt } from './init/prompt.ts';
import { lockWaitOption, parsePort } from './options.ts';
import { createCaller } from './playground/caller.ts';
import { createProgress } from './progress.ts';
import { checkReason, launchService, type StopReason, stopSignal, stopWithin } from './run-service.ts';

interface InitFlags extends ColumnFlags {
  readonly config: string;
  readonly data: string;
  readonly files?: readonly string[];
  readonly from: Preset;
  readonly positiveTypes?: readonly string[];
  readonly port?: number;
  readonly apiKey?: string;
  readonly evaluate?: boolean;
  readonly skipBad?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly lockWait: number;
}

const HELP = `
Asks on a terminal for what is not said, writes a configuration with comments, imports the files, trains, and prints what
to try. --yes takes what is proposed: ratings from 70 % of the largest on, and types such as like, star or purchase, are
positive. Nothing that is there is written over.

Examples:
  furze init
  furze init products.csv ratings.csv --positive 4 --evaluate
  furze init --from movielens ml-1m/ --data ./films --config films.toml --yes`;

/** A window that takes in everything: a hundred years. */
const ALL_TIME = '876000h';
/** The key is in the file. */
const OWNER_ONLY = 0o600;
const INTERRUPTED = 130;

/** `furze init`: from files to a service with a configuration, data and a model. */
export function initCommand(env: Environment): Command {
  const command = new Command('init');
  addColumnOptions(command)
    .description('set a service up on your own files: configuration, import, training')
    .addArgument(new Argument('[files...]', 'feedback, items and users as for import'))
    .option('-c, --config <file>', 'configuration file to write', 'furze.toml')
    .option('-d, --data <folder>', 'where the data is kept, the cache in a folder below', './data')
    .option('--files <files...>', 'the files, in place of arguments')
    .addOption(new Option('--from <set>', 'what the files come from').choices(PRESETS).default('csv'))
    .option('--positive-types <list>', 'types of feedback that are positive', splitList)
    .option('-p, --port <port>', 'port to listen on (default: 8087)', parsePort)
    .option('--api-key <key>', 'key that callers must send (default: none)')
    .option('--evaluate', 'tell how good the lists are, too')
    .option('--skip-bad', 'store the good rows of a file that has bad ones')
    .option('-y, --yes', 'ask nothing and take what is proposed')
    .option('--json', 'ask nothing, and print what was set up as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', HELP)
    .action(async (files: string[], flags: InitFlags) => {
      refuseWrittenConfig(flags.config);
      const answers = await answersOf([...files, ...(flags.files ?? [])], flags, env, command);
      await setUp(answers, flags, env);
    });
  return command;
}

async function answersOf(
  paths: readonly string[],
  flags: InitFlags,
  env: Environment,
  command: Command,
): Promise<Answers> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && !flags.json;
  const prompt = hasTerminal ? createPrompt(process.stdin, process.stdout) : undefined;
  const given = {
    paths,
    preset: flags.from,
    wishes: wishesOf(flags),
    positiveTypes: flags.positiveTypes,
    port: flags.port,
    // One in the environment goes before the file in any case.
    apiKey: flags.apiKey ?? (env.FURZE_SERVER_API_KEY === undefined ? undefined : ''),
    evaluates: flags.evaluate,
    takesProposals: flags.yes === true,
  };
  try {
    return await findAnswers(given, prompt);
  } catch (error) {
    if (error instanceof AnswerMissing)
      return command.error(`furze init: ${error.message} (there is no terminal to ask on)`, { exitCode: 2 });
    throw error;
  } finally {
    prompt?.close();
  }
}

async function setUp(answers: Answers, flags: InitFlags, env: Environment): Promise<void> {
  const written = configOf(answers, flags.data);
  const text = configTemplate(written);
  const config = parseConfig(text, env);
  for (const { path, wishes } of answers.files) {
    const run = { paths: [path], preset: flags.from, wishes, skipsBad: flags.skipBad === true };
    const code = await importInto(
      config,
      { ...run, isQuiet: flags.json === true, isShown: true },
      flags.lockWait,
    );
    // Rows that were to be skipped are told; the good ones are in.
    if (code !== 0 && !(flags.skipBad && code === REFUSED)) throw new ExitStatus(code);
  }
  refuseWrittenConfig(flags.config);
  const mode = written.server.api_key === '' ? {} : { mode: OWNER_ONLY };
  // All of it or nothing: a file that is cut off would stand in the way of the next try.
  const partial = `${flags.config}.partial`;
  // One that was left may be for others to read.
  rmSync(partial, { force: true });
  writeFileSync(partial, text, { ...mode, flag: 'wx' });
  renameSync(partial, flags.config);
  const say = (text: string) => void (flags.json || process.stdout.write(text));
  say(`Wrote ${flags.config}; positive: ${answers.positiveTypes.join(', ')}.\n`);
  const example = await train(config, flags);
  let evaluation: Awaited<ReturnType<typeof evaluateFolder>> | undefined;
  try {
    if (answers.evaluates) evaluation = await evaluateFolder(config, EVALUATE_DEFAULTS, undefined);
    if (evaluation !== undefined && !flags.json) say(await describeReport(evaluation));
  } finally {
    say(describeNext(flags.config, config, example));
  }
  if (!flags.json) return;
  const told = {
    config: flags.config,
    data: flags.data,
    files: answers.files.map(({ path, plan }) => ({ path, kind: plan.kind })),
    positiveTypes: answers.positiveTypes,
    ...requestsOf(config, example),
    ...(example !== undefined && { example }),
    ...(evaluation !== undefined && { evaluation }),
  };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

function refuseWrittenConfig(file: string): void {
  if (existsSync(file)) {
    throw new OperatorError(`${file} is there already and is not written over; name another with --config`);
  }
}

/** The defaults, fitted to the answers. */
function configOf(answers: Answers, data: string): Config {
  const usual = defaultConfig();
  const { positiveTypes, readTypes, newestMs, port, apiKey } = answers;
  const windowMs = usual.recommend.popular.popular_window;
  const isOld = newestMs === undefined || Date.now() - newestMs > windowMs;
  return defaultConfig({
    database: { data_store: `lmdb://${data}`, cache_store: `lmdb://${join(data, 'cache')}` },
    server: { port: port ?? usual.server.port, api_key: apiKey ?? '' },
    recommend: {
      data_source: { positive_feedback_types: [...positiveTypes], read_feedback_types: [...readTypes] },
      // Without feedback in the window there would be no popular items.
      popular: { popular_window: isOld ? parseDuration(ALL_TIME) : windowMs },
      online: { fallback_recommend: ['item_based', 'popular', 'latest'] },
    },
  });
}

/** Trains a service on the folder that nobody else reaches, and gives a user to show. */
async function train(config: Config, flags: InitFlags): Promise<Example | undefined> {
  const local = { host: '127.0.0.1', port: 0, ssl_cert: '', ssl_key: '' };
  const own = defaultConfig({ ...config, server: { ...config.server, ...local } });
  const log = createLogger('error');
  const stopped = stopSignal(log);
  const service = await launchService({ config: own, log, lockWait: flags.lockWait, stopped });
  if (service === undefined) return endStopped(stopped, flags.config);
  try {
    const progress = createProgress(flags.json ? process.stderr : process.stdout);
    const key = keyOf(config);
    const ask = createCaller(baseUrl(service.address), key);
    const work = fitOrTell(service, progress.report).then(() => {
      progress.end();
      return findExample(service.data, ask, config);
    });
    const ended = await Promise.race([work, stopped.then(() => 'stopped' as const)]);
    if (ended !== 'stopped') return ended;
    work.catch(() => {});
    return await endStopped(stopped, flags.config);
  } finally {
    await stopWithin(service, own.server.shutdown_timeout, log);
  }
}

/** @throws ExitStatus */
async function endStopped(stopped: Promise<StopReason>, config: string): Promise<never> {
  checkReason(await stopped);
  process.stderr.write(
    `Stopped; the data is in. ${commandName()} serve --config ${config} trains by itself.\n`,
  );
  throw new ExitStatus(INTERRUPTED);
}

/** Data from which no model can be learned leaves the lists that need none. */
async function fitOrTell(service: Service, report: Parameters<Service['fit']>[0]): Promise<void> {
  try {
    await service.fit(report);
  } catch (error) {
    const reason = messageOf(error);
    process.stderr.write(
      `furze: no model could be trained (${reason}); lists are made without one until there is more feedback\n`,
    );
  }
}
