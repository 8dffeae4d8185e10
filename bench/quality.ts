/**
 * `npm run quality -- --format FORMAT --dir DIR --model MODEL`: trains a model on a public data set as it comes,
 * and prints how well it ranks what was held out. bench/notes/models.md explains the protocols.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { CLICK_DEFAULTS, FM_DEFAULTS } from '../src/model/click/settings.ts';
import type { Estimate } from '../src/model/evaluation/confidence-interval.ts';
import { auc, logLoss } from '../src/model/evaluation/metrics.ts';
import { fitFactorizationMachine, predictProbabilities } from './baselines/factorization-machine.ts';
import { finish } from './fit-in-thread.ts';
import { evaluateFullCatalogue, evaluateSampled } from './quality/evaluations.ts';
import { evaluateClick, fitClick, hasLabels, loadClickSet } from './quality/features.ts';
import {
  defaultSettings,
  fitRanker,
  RANKING_MODELS,
  type RankingModel,
  type Settings,
} from './quality/fit.ts';
import {
  type FeatureSet,
  FORMATS,
  type Format,
  loadSet,
  type RankingSet,
  withValidation,
} from './quality/load.ts';
import { searchSettings } from './quality/search.ts';

type Model = RankingModel | 'fm' | 'linear';

interface Options {
  readonly format: Format;
  readonly dir: string;
  readonly model: Model | 'all';
  readonly workers: number;
  readonly seed: number;
  readonly positive: number | undefined;
  readonly split: 'temporal' | 'last';
  readonly share: number;
  readonly cutoffs: number[];
  readonly search?: boolean;
  readonly trials: number;
  readonly json?: boolean;
}

/** Result of a run. */
interface Outcome {
  readonly settings: Settings;
  readonly seconds: { readonly fit: number; readonly evaluate: number };
  readonly metrics: ReadonlyMap<string, Estimate>;
}

/** Options that are settings of a model, by the name that the model gives them. */
const SETTING_NAMES = [
  'factors',
  'epochs',
  'regularization',
  'unobservedWeight',
  'regularizationExponent',
  'steps',
  'learningRate',
  'linearRegularization',
  'initialDeviation',
  'patience',
  'negativesPerPositive',
  'popularityExponent',
  'neighbors',
  'shrink',
  'neighborhood',
  'frequencyRegularization',
  'userExponent',
] as const;

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

function cutoffs(text: string): number[] {
  const values = text.split(',').map(number);
  if (!values.every((value) => Number.isInteger(value) && value >= 1)) {
    throw new InvalidArgumentError('They must be integers from 1, such as 10,20.');
  }
  return values;
}

function parseArguments(): { options: Options; given: Settings } {
  const program = new Command('quality')
    .requiredOption('--dir <folder>', 'folder that holds the files of the set')
    .addOption(new Option('--format <format>').choices(FORMATS).makeOptionMandatory())
    .addOption(
      new Option('--model <model>', 'the model to train')
        .choices([...RANKING_MODELS, 'fm', 'linear', 'all'])
        .makeOptionMandatory(),
    )
    .option('--workers <count>', 'threads that train ALS and SLIM', number, 1)
    .option('--seed <number>', 'seed of the model and of the search', number, 1)
    .option('--positive <rating>', 'lowest rating that counts (movielens, csv)', number)
    .addOption(
      new Option('--split <split>', 'for movielens and csv')
        .choices(['temporal', 'last'])
        .default('temporal'),
    )
    .option('--share <share>', 'share held out by a temporal split', number, 0.2)
    .option('--cutoffs <list>', 'lengths at which lists are measured', cutoffs, [10, 20])
    .option('--search', 'choose the settings on a validation part of the training records first')
    .option('--trials <count>', 'trials of a search', number, 20)
    .option('--json', 'end with one line of JSON');
  for (const name of SETTING_NAMES) {
    program.option(`--${toFlag(name)} <number>`, 'setting of the model', number);
  }
  program.parse();
  const values = program.opts<Options & Record<string, number | undefined>>();
  const given: Record<string, number> = { seed: values.seed };
  for (const name of SETTING_NAMES) if (values[name] !== undefined) given[name] = values[name];
  return { options: values, given };
}

async function runRanking(
  set: RankingSet,
  model: RankingModel,
  given: Settings,
  options: Options,
): Promise<Outcome> {
  const base = defaultSettings(model);
  let settings: Settings = { ...base, ...pickKnown(given, base) };
  if (options.search === true) {
    const tell = (trial: { settings: Settings; ndcg: number }) =>
      console.log(`trial NDCG@10 ${trial.ndcg.toFixed(4)}  ${JSON.stringify(trial.settings)}`);
    const trials = await searchSettings(model, set, base, pickKnown(given, base), options, tell);
    settings = trials[0]?.settings ?? settings;
  }
  const started = performance.now();
  const ranker = await fitRanker(model, set.train, settings, options.workers);
  const fitted = performance.now();
  const evaluation =
    set.cases.length > 0
      ? evaluateSampled(ranker, set.cases, options.cutoffs)
      : evaluateFullCatalogue(ranker, set.train.byUser, set.test, options.cutoffs);
  console.log(`${evaluation.userCount} users evaluated`);
  return { settings, seconds: seconds(started, fitted), metrics: evaluation.metrics };
}

function runFeatures(set: FeatureSet, model: 'fm' | 'linear', given: Settings): Outcome {
  const { linearOnly: _linearOnly, ...base } = FM_DEFAULTS;
  const settings = { ...base, ...pickKnown(given, base) };
  const featureCount = Math.max(
    set.train.featureCount,
    set.validation?.featureCount ?? 0,
    set.test.featureCount,
  );
  const { train, validation } = withValidation(set, settings.seed);
  const started = performance.now();
  const run = fitFactorizationMachine(
    train,
    featureCount,
    { ...settings, linearOnly: model === 'linear' },
    loadKernels,
    validation,
  );
  let told = 0;
  const machine = finish(run, ({ done, loss, heldOutLoss }) => {
    if (done === told) return;
    told = done;
    console.log(`epoch ${done}: log loss ${loss.toFixed(5)}, validation ${heldOutLoss.toFixed(5)}`);
  });
  const fitted = performance.now();
  const probabilities = predictProbabilities(machine, set.test, loadKernels);
  const metrics = new Map([
    ['AUC', { mean: auc(probabilities, set.test.targets), halfWidth: 0 }],
    ['LogLoss', { mean: logLoss(probabilities, set.test.targets), halfWidth: 0 }],
  ]);
  return { settings, seconds: seconds(started, fitted), metrics };
}

function runClick(
  format: 'movielens' | 'csv',
  model: 'fm' | 'linear',
  given: Settings,
  options: Options,
): Outcome {
  const set = loadClickSet(format, options.dir, options);
  const { linearOnly: _linearOnly, ...base } = CLICK_DEFAULTS;
  const started = performance.now();
  const linearOnly = model === 'linear';
  const trained = fitClick(set, { ...pickKnown(given, base), linearOnly }, (line) => console.log(line));
  const fitted = performance.now();
  const metrics = evaluateClick(set, trained, options.cutoffs);
  return { settings: { ...base, ...pickKnown(given, base) }, seconds: seconds(started, fitted), metrics };
}

function seconds(started: number, fitted: number): { fit: number; evaluate: number } {
  return { fit: round((fitted - started) / 1000), evaluate: round((performance.now() - fitted) / 1000) };
}

/** The settings given, which the model must have; the seed is everybody's. @throws Error that names those it has not */
function pickKnown(given: Settings, base: Settings): Settings {
  const unknown = Object.keys(given).filter((name) => name !== 'seed' && !(name in base));
  if (unknown.length > 0) {
    const flags = (names: readonly string[]) => names.map((name) => `--${toFlag(name)}`).join(', ');
    const known = SETTING_NAMES.filter((name) => name in base);
    throw new Error(`the model has no ${flags(unknown)}; it has ${flags(known)}`);
  }
  return Object.fromEntries(Object.entries(given).filter(([name]) => name in base));
}

/** A setting's name as it stands on the command line. */
function toFlag(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function round(value: number): number {
  return Number(value.toFixed(5));
}

async function run(options: Options, given: Settings, model: Model): Promise<Outcome> {
  const { format } = options;
  const isFeatureModel = model === 'fm' || model === 'linear';
  if (isFeatureModel && hasLabels(format)) return runClick(format, model, given, options);
  const set = loadSet(format, options.dir, options);
  if (isFeatureModel && set.kind === 'features') return runFeatures(set, model, given);
  if (!isFeatureModel && set.kind === 'ranking') return await runRanking(set, model, given, options);
  throw new Error(`the model ${model} does not go with the format ${format}`);
}

/** One line a model, as a Markdown table: those of the ranking, or of the features where the format has these. */
async function runAll(options: Options, given: Settings): Promise<void> {
  const models: readonly Model[] = options.format === 'libfm' ? ['linear', 'fm'] : RANKING_MODELS;
  const lines: string[] = [];
  for (const model of models) {
    const { metrics, seconds } = await run(options, given, model);
    if (lines.length === 0) {
      const head = ['Model', ...metrics.keys(), 'fit, s'];
      lines.push(`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`);
    }
    const cells = Array.from(metrics.values(), ({ mean, halfWidth }) =>
      halfWidth > 0 ? `${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}` : mean.toFixed(4),
    );
    lines.push(`| ${[model, ...cells, seconds.fit.toFixed(1)].join(' | ')} |`);
    console.log(lines.at(-1));
  }
  console.log(`\n${lines.join('\n')}`);
}

async function main(): Promise<void> {
  const { options, given } = parseArguments();
  const { model } = options;
  if (model === 'all') {
    await runAll(options, given);
    return;
  }
  const outcome = await run(options, given, model);
  for (const [name, { mean, halfWidth }] of outcome.metrics) {
    console.log(`${name.padEnd(15)}${mean.toFixed(4)}${halfWidth > 0 ? ` ± ${halfWidth.toFixed(4)}` : ''}`);
  }
  console.log(`fit ${outcome.seconds.fit} s, evaluate ${outcome.seconds.evaluate} s`);
  if (options.json !== true) return;
  const { settings, seconds } = outcome;
  console.log(JSON.stringify({ model, settings, seconds, metrics: means(outcome.metrics) }));
}

function means(metrics: ReadonlyMap<string, Estimate>): Record<string, number> {
  return Object.fromEntries(Array.from(metrics, ([name, { mean }]) => [name, round(mean)]));
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
