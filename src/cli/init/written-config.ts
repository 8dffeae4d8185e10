import { accessSync, constants, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, defaultConfig, type Environment, parseConfig } from '../../config/config.ts';
import { configTemplate } from '../../config/print.ts';
import { counted } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { commandName } from '../common/command-name.ts';
import { CONFIG_FILE } from '../common/load-config.ts';
import type { Answers } from './answers.ts';
import { dataFolderOf, hasStore } from './data-place.ts';

/** The key is in the file. */
const OWNER_ONLY = 0o600;
const DAY_MS = 86_400_000;
const USUAL_WINDOW_MS = defaultConfig().recommend.popular.popular_window;

/** The command that starts the service of a configuration file. */
export function serveCommand(file: string): string {
  return `${commandName()} serve${file === CONFIG_FILE ? '' : ` --config ${file}`}`;
}

/**
 * @throws OperatorError when there is a file, with how to start what it sets up
 * @throws Error of the file system when none can be written there
 */
export async function refuseWrittenConfig(file: string, env: Environment): Promise<void> {
  if (!existsSync(file)) return accessSync(dirname(file), constants.W_OK);
  const folder = await importedFolder(file, env);
  const other = 'name another with --config';
  throw new OperatorError(
    folder === undefined
      ? `${file} is there already and is not written over; ${other}`
      : `${file} is there already and is not written over, and ${folder} has its data: ${serveCommand(file)} starts the service, which trains by itself. To set another up, ${other} and another folder with --data`,
  );
}

/** The folder of a configuration's data, if it can be read and data was stored. */
async function importedFolder(file: string, env: Environment): Promise<string | undefined> {
  try {
    const folder = dataFolderOf(parseConfig(readFileSync(file, 'utf8'), env, () => {}));
    return folder !== undefined && (await hasStore(folder)) ? folder : undefined;
  } catch {
    // It is another's, or not valid; `furze serve` says why.
    return undefined;
  }
}

/** The defaults, fitted to the answers. @param nowMs milliseconds of Unix time */
export function fittedConfig(answers: Answers, data: string, nowMs: number): Config {
  const usual = defaultConfig();
  const { positiveTypes, readTypes, repeatedTypes = [], port, apiKey } = answers;
  return defaultConfig({
    database: { data_store: `lmdb://${data}`, cache_store: `lmdb://${join(data, 'cache')}` },
    server: { port: port ?? usual.server.port, api_key: apiKey ?? '' },
    recommend: {
      data_source: {
        positive_feedback_types: [...positiveTypes],
        read_feedback_types: [...readTypes],
        repeated: Object.fromEntries(repeatedTypes.map((type) => [type, 'count' as const])),
      },
      popular: { popular_window: popularWindow(answers, nowMs) },
      online: { fallback_recommend: ['item_based', 'popular', 'latest'] },
      item_neighbors: comesOfOrders(answers) ? { neighbor_type: 'related' } : {},
    },
  });
}

/** True where items are those that rows of feedback name: all have users, and no labels but their categories. */
function comesOfOrders({ files }: Answers): boolean {
  return files.some(({ plan }) => plan.isOfFeedback === true);
}

const WHY_RELATED =
  'The items come out of the feedback and have no labels but their category, by which all of one would be alike: they are compared ' +
  'by who has them. Where items get labels of their own, "auto" goes by these.';

/**
 * The window of popular items, which goes by the clock. Where the newest feedback lies in its first half or before it,
 * little or nothing would be popular: then it begins as long before that feedback as it otherwise does before now.
 * @returns milliseconds, whole days where it is longer
 */
function popularWindow({ newestMs, popular }: Answers, nowMs: number): number {
  const windowMs = popular?.windowMs ?? USUAL_WINDOW_MS;
  const ageMs = newestMs === undefined ? 0 : nowMs - newestMs;
  return ageMs <= windowMs / 2 ? windowMs : Math.ceil((ageMs + windowMs) / DAY_MS) * DAY_MS;
}

/** Why the window of popular items is not the usual one; undefined where it is. */
function whyWindow(config: Config, { newestMs, popular }: Answers): string | undefined {
  const { popular_window } = config.recommend.popular;
  const windowMs = popular?.windowMs ?? USUAL_WINDOW_MS;
  const span = (ms: number) =>
    ms < DAY_MS ? counted((24 * ms) / DAY_MS, 'hours') : counted(ms / DAY_MS, 'days');
  const chosen =
    popular &&
    `${span(windowMs)} in place of ${span(USUAL_WINDOW_MS)} hold more of what people without likes take next: NDCG@10 ` +
      `${popular.quality.toFixed(3)} against ${popular.usual.toFixed(3)} over ${counted(popular.asked, 'likes')}, each asked for before it came.`;
  if (newestMs === undefined || popular_window === windowMs) return chosen;
  const [newest, begins] = [newestMs, newestMs - windowMs].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  );
  const old =
    `The newest feedback is of ${newest}, so popular items are told by what came since ${begins}: ${span(windowMs)} ` +
    `before it, which is ${span(popular_window)} by the clock. Shorten the window to ${span(windowMs)} once newer feedback has come in: ` +
    'until then it reaches over old and new.';
  return chosen === undefined ? old : `${chosen} ${old}`;
}

/** A summary of the written configuration, with a reason for each unusual value. */
export function describeWritten(file: string, config: Config, answers: Answers): string {
  const { positiveTypes, repeatedTypes = [] } = answers;
  const counted = repeatedTypes.length > 0 ? `; every event counts of: ${repeatedTypes.join(', ')}` : '';
  const wrote = `Wrote ${file}; positive: ${positiveTypes.join(', ')}${counted}.\n`;
  const why = whyWindow(config, answers);
  const related = comesOfOrders(answers) ? `[recommend.item_neighbors] neighbor_type: ${WHY_RELATED}\n` : '';
  return `${wrote}${related}${why === undefined ? '' : `[recommend.popular] popular_window: ${why}\n`}`;
}

/** Writes all of a configuration or nothing: a file that is cut off would stand in the way of the next try. */
export function writeConfig(file: string, config: Config, answers: Answers): void {
  const mode = config.server.api_key === '' ? {} : { mode: OWNER_ONLY };
  const partial = `${file}.partial`;
  // One that was left may be for others to read.
  rmSync(partial, { force: true });
  const notes = {
    'recommend.popular.popular_window': whyWindow(config, answers),
    'recommend.item_neighbors.neighbor_type': comesOfOrders(answers) ? WHY_RELATED : undefined,
  };
  writeFileSync(partial, configTemplate(config, notes), { ...mode, flag: 'wx' });
  renameSync(partial, file);
}
