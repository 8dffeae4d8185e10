/**
 * `npm run quality:sets -- [FOLDER[=RATING] ...]`: the served lists on every set in data/ and in the folders given, beside
 * the best recommender alone, popularity with its window chosen on the training part, and other ways to rank.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { importInto } from '../../src/cli/import.ts';
import { parseNumber } from '../../src/cli/options.ts';
import { defaultConfig } from '../../src/domain/config/config.ts';
import type { EvaluationRow } from '../../src/domain/evaluation-schemas.ts';
import { readPositiveKinds } from '../../src/domain/positive-feedback-types.ts';
import { conclude, MAIN_METRIC } from '../../src/evaluate/conclusion.ts';
import { evaluateService } from '../../src/evaluate/evaluate-service.ts';
import { createTrial, type Protocol } from '../../src/evaluate/hold-out-protocol.ts';
import { readFeedback } from '../../src/evaluate/read-feedback.ts';
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
  readonly protocol: Protocol;
  readonly share: number;
  readonly users: number;
  readonly seed: number;
  readonly threads?: number;
}

async function evaluateSet(
  folder: string,
  ratingMin: number | undefined,
  options: Options,
): Promise<EvaluationRow[]> {
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
    const trial = createTrial(past, { ...options, usersMax: options.users });
    return await evaluateService(trial, config, { seed: options.seed, variants: BLENDS });
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

const program = new Command('quality:sets')
  .argument(
    '[folders...]',
    'sets beside those of data/, as FOLDER or FOLDER=RATING with the rating that is positive',
  )
  .option('--only', 'the folders given and not those of data/')
  .option('--protocol <name>', 'temporal or last', 'temporal')
  .option('--share <share>', 'share held out by a temporal split', parseNumber, 0.2)
  .option('--users <count>', 'users to ask about at the most', parseNumber, 5000)
  .option('--threads <count>', 'threads that learn', parseNumber)
  .option('--seed <number>', 'seed', parseNumber, 1)
  .action(async (folders: string[], options: Options & { only?: boolean }) => {
    const lines: string[] = [];
    for (const set of [...(options.only ? [] : OWN_SETS), ...folders]) {
      const [, folder = set, rating] = /^(.*?)(?:=([\d.]+))?$/.exec(set) ?? [];
      const rows = await evaluateSet(folder, rating === undefined ? undefined : Number(rating), options);
      lines.push(lineOf(basename(folder), rows));
      process.stdout.write(`${lines.at(-1)}\n${conclude(rows)}\n`);
    }
    const head = `| ${MAIN_METRIC} | served by default | best recommender alone | popular, window chosen on training data | best blend | fit, s |`;
    process.stdout.write(
      '\nBehind each semicolon: the difference to what is served by default, paired by user.\n',
    );
    process.stdout.write(`\n${head}\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`);
  });
await program.parseAsync();
