import { baseUrl } from '../../config/base-url.ts';
import { type Config, defaultConfig, type Environment, parseConfig } from '../../config/config.ts';
import { configTemplate } from '../../config/print.ts';
import type { EvaluationReport } from '../../domain/evaluation-schemas.ts';
import { messageOf } from '../../domain/furze-error.ts';
import { describePlan } from '../../exchange/describe-plan.ts';
import type { Wishes } from '../../exchange/import-plan.ts';
import type { PresetFile } from '../../exchange/known-data-sets.ts';
import { type Logger, serviceLogger } from '../../platform/log/log.ts';
import { describeReport, EVALUATE_DEFAULTS, evaluateFolder } from '../commands/evaluate.ts';
import { ExitStatus, INTERRUPTED } from '../common/exit-status.ts';
import { keyOf } from '../common/find-service.ts';
import { createProgress } from '../common/progress.ts';
import {
  checkReason,
  launchService,
  type StopReason,
  stopSignal,
  stopWithin,
} from '../common/run-service.ts';
import { type SetUpSummary, writeSummary } from '../common/set-up-summary.ts';
import { importInto } from '../import/import.ts';
import { REFUSED, type Repeats } from '../import/run-import.ts';
import { createCaller } from '../playground/caller.ts';
import type { Answers } from './answers.ts';
import { dataFolderOf, rememberFolder } from './data-place.ts';
import { describeNext, type Example, findExamples, requestsOf } from './example-requests.ts';
import type { SetUpOptions } from './given.ts';
import { chooseStoredWindow } from './popular-window.ts';
import { sameCommand, typeOf } from './same-command.ts';
import {
  describeWritten,
  fittedConfig,
  refuseWrittenConfig,
  serveCommand,
  writeConfig,
} from './written-config.ts';

/**
 * Imports, writes the configuration, trains, and tells what to try.
 * @throws ExitStatus when it was interrupted or rows were refused
 * @throws OperatorError when nothing can be stored, or a configuration has come meanwhile
 */
export async function setUp(said: Answers, options: SetUpOptions, env: Environment): Promise<void> {
  const { config: file, json } = options;
  let answers = said;
  let written = fittedConfig(answers, options.data, Date.now());
  let config = parseConfig(configTemplate(written), env);
  await importAndWrite(answers, options, config, async () => {
    await refuseWrittenConfig(file, env);
    const folder = dataFolderOf(config);
    if (folder !== undefined) {
      answers = { ...said, popular: await chooseStoredWindow(config) };
      written = fittedConfig(answers, options.data, Date.now());
      config = parseConfig(configTemplate(written), env);
      writeSummary(folder, summaryOf(answers, options));
    }
    writeConfig(file, written, answers);
  });
  const say = (text: string) => void (json || process.stdout.write(text));
  say(describeWritten(file, written, answers));
  const log = serviceLogger({ level: 'error', format: 'auto' });
  const stopped = stopSignal(log);
  const examples = await trainAndShow(config, { ...options, log, stopped });
  let evaluation: EvaluationReport | undefined;
  try {
    if (answers.evaluates) evaluation = await evaluateUnlessStopped(config, file, stopped);
    if (evaluation !== undefined && !json) say(await describeReport(evaluation));
  } finally {
    say(describeNext(file, config, examples));
  }
  if (json)
    process.stdout.write(`${JSON.stringify(toldOf(answers, options, config, { examples, evaluation }))}\n`);
}

/** All of it or nothing, where the folder of the data was not there before. */
async function importAndWrite(
  answers: Answers,
  options: SetUpOptions,
  config: Config,
  write: () => Promise<void>,
): Promise<void> {
  const { skipsBad, sumsValues } = answers;
  const folder = dataFolderOf(config);
  const before = rememberFolder(folder);
  try {
    // At once, so that the values of rows of several files are added up.
    const inputs: PresetFile[] = answers.files.map(({ path, wishes, plan }) => ({
      ...{ path, plan },
      wishes: { ...wishes, kind: plan.kind },
    }));
    const repeats: Repeats = sumsValues ? 'sum' : 'first';
    const run = { inputs, paths: [], preset: options.from, wishes: {}, skipsBad, repeats };
    const code = await importInto(config, { ...run, isQuiet: options.json, isShown: true }, options.lockWait);
    if (code !== 0 && !(skipsBad && code === REFUSED)) throw new ExitStatus(code);
    await write();
  } catch (error) {
    const place = folder ?? 'the database';
    const kept = before.restore(error) ? 'Nothing is kept' : `What was stored until then is in ${place}`;
    const again = sameCommand({ ...answers, takesProposals: true }, options);
    process.stderr.write(`${kept}. The same again, with all answers:\n  ${again}\n`);
    throw error;
  }
}

async function evaluateUnlessStopped(
  config: Config,
  file: string,
  stopped: Promise<StopReason>,
): Promise<EvaluationReport> {
  const evaluated = evaluateFolder(config, { ...EVALUATE_DEFAULTS, protocol: 'temporal' }, undefined);
  const ended = await Promise.race([evaluated, stopped.then(() => 'stopped' as const)]);
  if (ended !== 'stopped') return ended;
  evaluated.catch(() => {});
  await tellStopped(stopped, file);
  // Its threads are in the middle of their work; temporary folders go at the exit.
  return process.exit(INTERRUPTED);
}

function summaryOf(answers: Answers, options: SetUpOptions): SetUpSummary {
  const { files, positiveTypes, readTypes, repeatedTypes = [] } = answers;
  const said = <K extends keyof Wishes>(key: K): Wishes[K] =>
    files.map(({ wishes }) => wishes[key]).find((value) => value !== undefined);
  const [ratingMin, type, lowType] = [said('ratingMin'), typeOf(files), said('lowType')];
  const [leftOutStates, guests, zeroRating] = [said('leftOut'), said('guests'), said('zeroRating')];
  return {
    at: new Date().toISOString(),
    files: files.map(({ path, plan }) => ({ path, encoding: plan.encoding, columns: describePlan(plan) })),
    ...{ positiveTypes, readTypes, repeatedTypes },
    ...(ratingMin !== undefined && { ratingMin }),
    ...(type !== undefined && { type }),
    ...(lowType !== undefined && { lowType }),
    ...(leftOutStates !== undefined && { leftOutStates }),
    leftOut: Object.fromEntries(answers.leftOut ?? []),
    ...(guests !== undefined && { guests }),
    ...(zeroRating !== undefined && { zeroRating }),
    command: sameCommand({ ...answers, takesProposals: true }, options),
  };
}

function toldOf(
  { files, positiveTypes }: Answers,
  { config: file, data }: SetUpOptions,
  config: Config,
  { examples, evaluation }: { examples: readonly Example[]; evaluation: EvaluationReport | undefined },
): object {
  return {
    config: file,
    data,
    files: files.map(({ path, plan }) => ({ path, kind: plan.kind })),
    positiveTypes,
    ...requestsOf(config, examples),
    examples,
    ...(evaluation !== undefined && { evaluation }),
  };
}

/**
 * Trains a service on the folder that nobody else reaches, and gives users to show.
 * @throws ExitStatus when it was told to stop
 */
async function trainAndShow(
  config: Config,
  options: SetUpOptions & { readonly log: Logger; readonly stopped: Promise<StopReason> },
): Promise<readonly Example[]> {
  const { config: file, json, lockWait, log, stopped } = options;
  const local = { host: '127.0.0.1', port: 0, ssl_cert: '', ssl_key: '' };
  const own = defaultConfig({ ...config, server: { ...config.server, ...local } });
  const service = await launchService({ config: own, log, lockWait, stopped });
  if (service === undefined) return endStopped(stopped, file);
  try {
    const progress = createProgress(json ? process.stderr : process.stdout);
    const ask = createCaller(baseUrl(service.address), keyOf(config));
    const fitted = service.fit(progress.report);
    const ended = await Promise.race([settled(fitted), stopped.then(() => 'stopped' as const)]);
    if (ended === 'stopped') {
      progress.stop();
      return await endStopped(stopped, file);
    }
    progress.end();
    // Data from which no model can be learned leaves the lists that need none.
    if (ended !== undefined) {
      process.stderr.write(
        `furze: no model could be trained (${messageOf(ended.error)}); lists are made without one until there is more feedback\n`,
      );
    }
    const found = findExamples(service.data, ask, config);
    const examples = await Promise.race([found, stopped.then(() => 'stopped' as const)]);
    if (examples !== 'stopped') return examples;
    found.catch(() => {});
    return await endStopped(stopped, file);
  } finally {
    await stopWithin(service, own.server.shutdown_timeout, log);
  }
}

/** @returns why it failed; undefined when it did not */
async function settled(work: Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** @throws ExitStatus */
async function endStopped(stopped: Promise<StopReason>, file: string): Promise<never> {
  await tellStopped(stopped, file);
  throw new ExitStatus(INTERRUPTED);
}

/** Says how it goes on after an interruption. @throws OperatorError after a fault of the program */
async function tellStopped(stopped: Promise<StopReason>, file: string): Promise<void> {
  checkReason(await stopped);
  process.stderr.write(
    `Stopped. Everything is imported: ${serveCommand(file)} starts the service, which trains by itself.\n`,
  );
}
