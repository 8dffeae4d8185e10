import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type Config, defaultConfig, type Environment } from '../../config/config.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import type { EvaluateOptions, EvaluationReport } from '../../domain/evaluation-schemas.ts';
import { DEFAULT_TYPE } from '../../exchange/import-plan.ts';
import { PRESETS, type Preset } from '../../exchange/known-data-sets.ts';
import { temporaryFolder } from '../../platform/files/temporary-folder.ts';
import { addColumnOptions, type ColumnFlags, wishesOf } from '../common/column-options.ts';
import { ExitStatus, UsageError } from '../common/exit-status.ts';
import { loadConfig } from '../common/load-config.ts';
import { addPlaceOptions, configFlags, numberOption, parseNumber } from '../common/options.ts';
import { howFar, LINE_MS } from '../common/progress.ts';
import { importInto } from '../import/import.ts';
import { REFUSED } from '../import/run-import.ts';

interface EvaluateFlags extends EvaluateOptions, OutputFlags, ColumnFlags {
  readonly config?: string;
  readonly data?: string;
  readonly from: Preset;
  readonly skipBad?: boolean;
  readonly positiveTypes?: readonly string[];
}

interface OutputFlags {
  readonly html?: string;
  readonly json?: boolean;
}

/** Options of the command where none are given. */
export const EVALUATE_DEFAULTS = {
  protocol: 'both',
  share: 0.2,
  users: 5000,
  questions: 1000,
  fits: 3,
  alone: false,
  seed: 1,
} as const satisfies EvaluateOptions;

const parseShare = numberOption('a number between 0 and 1', (share) => share > 0 && share < 1);
const parseCount = numberOption('an integer from 1', (count) => Number.isInteger(count) && count >= 1);

const HELP = `
Replays the last part of the data through a service of its own: each like is first a question, then is told, beside simple
ways that learn as it goes. Then holds a part of the likes out and compares the lists with it: as configured, each
recommender alone, popularity at its best window, and chance. The data is read and never changed; a service may run on the
folder meanwhile.

Examples:
  furze evaluate --config furze.toml
  furze evaluate ratings.csv --positive 4 --html evaluation.html
  furze evaluate orders.csv articles.csv --map user=Kunde,item=Artikel,time=Datum --type purchase --skip-bad
  furze evaluate --from movielens ml-1m/ --protocol replay`;

/** `furze evaluate`: how good the lists are on one's own data. */
export function evaluateCommand(env: Environment): Command {
  const command = new Command('evaluate').description(
    'tell how good the lists are, on the data of a folder or of files; they are judged as the configuration makes them',
  );
  addPlaceOptions(command)
    .argument('[files...]', 'users, items and feedback as for import, in place of a folder')
    .addOption(new Option('--from <set>', 'what the files come from').choices(PRESETS).default('csv'));
  return addColumnOptions(command)
    .option('--skip-bad', 'judge by the good rows of a file that has bad ones')
    .option('--positive-types <list>', 'what counts as positive, in place of the configured', (text) =>
      text.split(','),
    )
    .addOption(
      new Option('--protocol <name>', 'go through the last part by time, hold the latest out, or both')
        .choices(['replay', 'temporal', 'both'])
        .default(EVALUATE_DEFAULTS.protocol),
    )
    .option('--share <share>', 'share that is held out in time', parseShare, EVALUATE_DEFAULTS.share)
    .option('--users <count>', 'users to ask about at the most', parseCount, EVALUATE_DEFAULTS.users)
    .option(
      '--questions <count>',
      'questions of a replay at the most',
      parseCount,
      EVALUATE_DEFAULTS.questions,
    )
    .option(
      '--fits <count>',
      'fits of a replay at the most after the first',
      parseNumber,
      EVALUATE_DEFAULTS.fits,
    )
    .option('--alone', 'replay with each recommender alone, too; it takes six times as long')
    .option('--seed <number>', 'seed of everything that is random', parseNumber, EVALUATE_DEFAULTS.seed)
    .option('--html <file>', 'write the report as a page too')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', HELP)
    .action(async (files: string[], flags: EvaluateFlags) => {
      if (files.length === 0) refuseFileOptions(command);
      const loaded = loadConfig({ path: flags.config, env, flags: configFlags(flags) });
      if (flags.html !== undefined) refuseUnwritable(flags.html);
      const temporary = files.length === 0 ? undefined : temporaryFolder('furze-evaluate-');
      try {
        const config = withPositives(loaded, flags, temporary?.path);
        if (temporary !== undefined) {
          const run = { paths: files, preset: flags.from, wishes: wishesOf(flags) };
          const repeats = flags.sumValues ? 'sum' : 'first';
          const code = await importInto(config, { ...run, skipsBad: flags.skipBad === true, repeats });
          if (code !== 0 && !(flags.skipBad && code === REFUSED)) throw new ExitStatus(code);
        }
        const report = await evaluateFolder(config, flags, files.length === 0 ? undefined : files.join(' '));
        process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : await describeReport(report));
      } finally {
        temporary?.remove();
      }
    });
}

/** Before minutes of work whose report could not be written. @throws Error of the system */
function refuseUnwritable(path: string): void {
  const isNew = !existsSync(path);
  closeSync(openSync(path, 'a'));
  if (isNew) rmSync(path);
}

/** @throws UsageError when it is said how files are read and no file is named */
function refuseFileOptions(command: Command): void {
  const known = addColumnOptions(new Command()).options.map((option) => option.attributeName());
  const said = [...known, 'skipBad', 'from'].find((name) => command.getOptionValueSource(name) === 'cli');
  const option = command.options.find((each) => each.attributeName() === said);
  if (option !== undefined) throw new UsageError(`${option.long} is of files to read; name them`);
}

/** The configuration with what counts as positive, and for files with a folder of their own. */
function withPositives(config: Config, flags: EvaluateFlags, folder: string | undefined): Config {
  const { data_source } = config.recommend;
  const configured = data_source.positive_feedback_types;
  const isOpen = configured.length === 0 && folder !== undefined;
  const positives = flags.positiveTypes ?? (isOpen ? [flags.type ?? DEFAULT_TYPE] : configured);
  const database = folder && {
    data_store: `lmdb://${folder}`,
    cache_store: `lmdb://${join(folder, 'cache')}`,
  };
  return defaultConfig({
    ...config,
    database: { ...config.database, ...database },
    recommend: {
      ...config.recommend,
      data_source: { ...data_source, positive_feedback_types: [...positives] },
    },
  });
}

/**
 * Judges the lists that a configuration makes of the data in its folder; what it is doing is told on standard error.
 * @param source what the data came from, for the report; the folder when undefined
 * @throws OperatorError when there is no data, nothing positive in it, or too little to hold a part out
 */
export async function evaluateFolder(
  config: Config,
  flags: EvaluateOptions & OutputFlags,
  source: string | undefined,
): Promise<EvaluationReport> {
  // Loaded here, so that other commands load no engine.
  const { evaluateStore } = await import('../../evaluate/evaluate-store.ts');
  const report = await evaluateStore(config, flags, source, tellStages(process.stderr));
  if (flags.html !== undefined) {
    const { renderHtml } = await import('../../evaluate/report-html.ts');
    writeFileSync(flags.html, renderHtml(report));
  }
  return report;
}

/** Prints a line for each stage and one every ten seconds, with the time that is left of what its name begins with. */
export function tellStages(
  stream: NodeJS.WritableStream,
  clock: Clock = systemClock,
): (stage: string, done: number, total: number) => void {
  let [shown, phase, beganMs, toldMs] = ['', '', 0, 0];
  return (stage, done, total) => {
    const nowMs = clock();
    const [name = ''] = stage.split(':');
    if (name !== phase) [phase, beganMs] = [name, nowMs];
    if (stage === shown && nowMs - toldMs < LINE_MS) return;
    [shown, toldMs] = [stage, nowMs];
    stream.write(`${stage}: ${howFar(done, total, (nowMs - beganMs) / 1000)}\n`);
  };
}

export async function describeReport(report: EvaluationReport): Promise<string> {
  const { renderText } = await import('../../evaluate/report.ts');
  return `${renderText(report)}\n`;
}
