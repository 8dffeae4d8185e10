/**
 * `npm run quality:sets -- [FOLDER[=RATING] ...]`: the served lists on every set in data/ and in the folders given: by a
 * replay beside simple ways that are alive, or with `--protocol temporal` beside the best recommender alone, popularity with
 * its window chosen on the training part, and other ways to rank.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Command, Option } from 'commander';
import { parseNumber } from '../../src/cli/common/options.ts';
import { importInto } from '../../src/cli/import/import.ts';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import type { EvaluationRow } from '../../src/domain/evaluation-schemas.ts';
import { readPositiveKinds } from '../../src/domain/positive-feedback-types.ts';
import { conclude, MAIN_METRIC } from '../../src/evaluate/conclusion.ts';
import { evaluateService } from '../../src/evaluate/evaluate-service.ts';
import { replayPast } from '../../src/evaluate/evaluate-store.ts';
import { createTrial } from '../../src/evaluate/hold-out-protocol.ts';
import { type Past, readFeedback } from '../../src/evaluate/read-feedback.ts';
import { renderReplay, summaryCells } from '../../src/evaluate/replay-text.ts';
import { showDifference, showMetric } from '../../src/evaluate/report.ts';
import { storeSource } from '../../src/exchange/copy-sources.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';

/** The sets of the repository, with the rating from which on theirs are positive. */
const OWN_SETS = ['data/movietweetings-100k=7', 'data/onlineretail'];
const MOVIELENS_FILE = /^(u\.data|ratings\.(dat|csv)(\.gz)?)$/;
const TABLE_FILE = /\.(csv|tsv|ndjson)(\.(gz|zst))?$/;

/** Ways to put several recommenders together, of which the best is shown. */
const BLENDS = [
  ['with popular', { offline: { enable_popular_recommend: true } }],
  [
    'all recommenders',
    {
      offline: {
        enable_latest_recommend: true,
        enable_popular_recommend: true,
        enable_item_based_recommend: true,
        enable_user_based_recommend: true,
      },
    },
  ],
] as const;

interface Options {
  readonly protocol: 'replay' | 'temporal';
  readonly questions: number;
  readonly fits: number;
  readonly alone: boolean;
  readonly share: number;
  readonly users: number;
  readonly seed: number;
  readonly threads?: number;
}

/** A set with the configuration that is judged on it. */
interface Loaded {
  readonly config: Config;
  readonly past: Past;
}

/** Imports a set into a folder of its own for as long as it is judged. */
async function withSet<T>(
  folder: string,
  ratingMin: number | undefined,
  options: Options,
  judge: (set: Loaded) => Promise<T>,
): Promise<T> {
  const temporary = mkdtempSync(join(tmpdir(), 'furze-sets-'));
  try {
    const config = defaultConfig({
      database: {
        data_store: `lmdb://${temporary}`,
        cache_store: `lmdb://${join(temporary, 'cache')}`,
        sync: 'commit',
      },
      recommend: {
        data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
        collaborative: { seed: options.seed },
      },
      ...(options.threads !== undefined && { worker: { threads: options.threads } }),
    });
    const names = readdirSync(folder);
    const isMovielens = names.some((name) => MOVIELENS_FILE.test(name));
    const tables = names.filter((name) => TABLE_FILE.test(name)).map((name) => join(folder, name));
    if (!isMovielens && tables.length === 0) throw new Error(`${folder} has no CSV, TSV or NDJSON file`);
    const code = await importInto(config, {
      paths: isMovielens ? [folder] : tables,
      preset: isMovielens ? 'movielens' : 'csv',
      wishes: { ratingMin },
    });
    if (code !== 0) throw new Error(`${folder} could not be read`);
    const reader = openDataReader(temporary);
    const past = await readFeedback(storeSource(reader), readPositiveKinds(['like'])).finally(() =>
      reader.close(),
    );
    return await judge({ config, past });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The row of the best mean. */
function best(rows: readonly EvaluationRow[]): EvaluationRow {
  const mean = ({ metrics }: EvaluationRow) => metrics[MAIN_METRIC]!.mean;
  return rows.reduce((one, other) => (mean(other) > mean(one) ? other : one));
}

function lineOf(name: string, rows: readonly EvaluationRow[]): string {
  const of = (role: EvaluationRow['role']) => rows.filter((row) => row.role === role);
  const served = of('served')[0]!;
  const single = best(of('alone'));
  const popular = of('reference').find((row) => row.name.startsWith('popular'))!;
  const blend = best(of('variant'));
  const against = (row: EvaluationRow) => `${showMetric(row, MAIN_METRIC)}; ${showDifference(row)}`;
  const cells = [
    name,
    `**${showMetric(served, MAIN_METRIC)}**`,
    `${against(single)} (${single.name})`,
    `${against(popular)} (${/\((.*)\)$/.exec(popular.name)?.[1]})`,
    `${against(blend)} (${blend.name})`,
    served.fitSeconds!.toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}

async function temporalLine(name: string, { config, past }: Loaded, options: Options): Promise<string> {
  const trial = createTrial(past, { ...options, usersMax: options.users });
  const rows = await evaluateService(trial, config, { seed: options.seed, variants: BLENDS });
  process.stdout.write(`${conclude(rows, past.itemIds.length)}\n`);
  return lineOf(name, rows);
}

/** A line for each kind of question: the served lists beside the best simple way that is alive. */
async function replayLines(name: string, { config, past }: Loaded, options: Options): Promise<string> {
  const replay = await replayPast(past, config, options, () => {});
  process.stdout.write(`${renderReplay(replay)}\n\n`);
  const [, ...cells] = summaryCells(replay.groups);
  return cells.map((line) => `| ${[name, ...line].join(' | ')} |`).join('\n');
}

const HEADS = {
  replay:
    '| set | questions of | number | served | best simple way | | lead of served | |\n|---|---|---|---|---|---|---|---|',
  temporal: `| ${MAIN_METRIC} | served by default | best recommender alone | popular, window chosen on training data | best blend | fit, s |\n|---|---|---|---|---|---|`,
};

const program = new Command('quality:sets')
  .argument(
    '[folders...]',
    'sets beside those of data/, as FOLDER or FOLDER=RATING with the rating that is positive',
  )
  .option('--only', 'the folders given and not those of data/')
  .addOption(
    new Option('--protocol <name>', 'how sets are judged').choices(['replay', 'temporal']).default('replay'),
  )
  .option('--share <share>', 'share that is replayed, or held out', parseNumber, 0.1)
  .option('--questions <count>', 'questions of a replay at the most', parseNumber, 1000)
  .option('--fits <count>', 'fits of a replay at the most after the first', parseNumber, 3)
  .option('--alone', 'replay with each recommender alone, too', false)
  .option('--users <count>', 'users to ask about at the most', parseNumber, 5000)
  .option('--threads <count>', 'threads that learn', parseNumber)
  .option('--seed <number>', 'seed', parseNumber, 1)
  .action(async (folders: string[], options: Options & { only?: boolean }) => {
    const lines: string[] = [];
    const lineFor = options.protocol === 'replay' ? replayLines : temporalLine;
    for (const set of [...(options.only ? [] : OWN_SETS), ...folders]) {
      const [, folder = set, rating] = /^(.*?)(?:=([\d.]+))?$/.exec(set) ?? [];
      const ratingMin = rating === undefined ? undefined : Number(rating);
      const judge = (loaded: Loaded) => lineFor(basename(folder), loaded, options);
      lines.push(await withSet(folder, ratingMin, options, judge));
      process.stdout.write(`${lines.at(-1)}\n`);
    }
    process.stdout.write(`\n${HEADS[options.protocol]}\n${lines.join('\n')}\n`);
  });
await program.parseAsync();
