import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { likelyPositive } from '../../domain/feedback-troubles.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { NotInEncoding } from '../../exchange/open-text.ts';
import {
  type ColumnPairs,
  DEFAULT_LOW_TYPE,
  DEFAULT_TYPE,
  describePlan,
  OpenDateOrder,
  type Wishes,
} from '../../exchange/plan.ts';
import type { Preset } from '../../exchange/presets.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import { parseMap } from '../column-options.ts';
import { parseNumber, parsePort } from '../options.ts';
import { type PlannedFile, planFiles, surveyFiles } from './files.ts';
import { askYes, type Prompt } from './prompt.ts';

/** What the command line says; what it leaves open is asked. */
export interface Given {
  readonly paths: readonly string[];
  readonly preset: Preset;
  /** What the columns are; what is left open is guessed. */
  readonly wishes?: Wishes | undefined;
  readonly positiveTypes?: readonly string[] | undefined;
  readonly port?: number | undefined;
  readonly apiKey?: string | undefined;
  readonly evaluates?: boolean | undefined;
  /** Proposals are taken without a question. */
  readonly takesProposals: boolean;
}

/** All that is needed to set a service up. */
export interface Answers {
  readonly files: readonly PlannedFile[];
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
  /** Time of the newest feedback, milliseconds of Unix time; undefined where none has a time. */
  readonly newestMs: number | undefined;
  readonly port: number | undefined;
  readonly apiKey: string | undefined;
  readonly evaluates: boolean;
}

/** An answer is not given, and nobody can be asked. */
export class AnswerMissing extends Error {}

/** Of ratings, those from this share of the largest on are proposed: 4 of 5, 7 of 10. */
const LIKED_SHARE = 0.7;
const KEY_BYTES = 24;

/**
 * Asks for what is left open.
 * @param prompt undefined where there is no terminal
 * @throws AnswerMissing when something is left open that cannot be asked
 * @throws OperatorError when the files hold nothing to learn from
 */
export async function findAnswers(given: Given, prompt: Prompt | undefined): Promise<Answers> {
  const asking = given.takesProposals ? undefined : prompt;
  const planned = await findFiles(given, prompt);
  const confirmed = await confirmFiles(planned, given, asking);
  const { files: readable, survey } = await surveyAsking(confirmed, given.preset, asking);
  if (survey.types.size === 0) {
    throw new OperatorError(noFeedback(readable));
  }
  const { files, types } = await findRatingMin(readable, given, survey, asking);
  const positiveTypes = await findPositiveTypes(types, given, asking);
  const lowType = lowTypeOf(given);
  const isRead = types.includes(lowType) && !positiveTypes.includes(lowType);
  return {
    files,
    positiveTypes,
    readTypes: isRead ? [lowType] : [],
    newestMs: survey.newestMs,
    port: given.port ?? (asking && (await findPort(asking))),
    apiKey: given.apiKey ?? (asking && (await findKey(asking))),
    evaluates: given.evaluates ?? (asking ? await askYes(asking, 'Evaluate the lists, too?', false) : false),
  };
}

function noFeedback(files: readonly PlannedFile[]): string {
  const empty = files.find(({ plan }) => plan.kind === 'feedback');
  if (empty !== undefined) return `${empty.path} holds no row of feedback that can be stored`;
  const columns = files.map(({ path, plan }) => `${path} has ${plan.columns.join(', ')}`).join('; ');
  return `no file was taken for feedback, rows with a user and an item, and without it there is nothing to recommend from: ${columns}. If a column holds the user or the item, say which, such as --map user=COLUMN`;
}

function lowTypeOf({ wishes }: Given): string {
  return wishes?.lowType ?? DEFAULT_LOW_TYPE;
}

async function findFiles(given: Given, prompt: Prompt | undefined): Promise<PlannedFile[]> {
  const { preset, wishes = {}, paths } = given;
  if (paths.length > 0) return planAsking(paths, preset, wishes, given.takesProposals ? undefined : prompt);
  if (prompt === undefined) throw new AnswerMissing('no data files are named');
  for (;;) {
    const answer = await prompt.ask('Files with your feedback, items and users (CSV, TSV or NDJSON):');
    const names = existsSync(answer) ? [answer] : answer.split(/\s+/).filter((name) => name !== '');
    if (names.length === 0) continue;
    const files = await orSay(prompt, () => planAsking(names, preset, wishes, prompt));
    if (files !== undefined) return files;
  }
}

/** Asks for the order of days and months where the files do not tell it, and for the encoding of what is not UTF-8. */
async function planAsking(
  paths: readonly string[],
  preset: Preset,
  wishes: Wishes,
  prompt: Prompt | undefined,
): Promise<PlannedFile[]> {
  try {
    return await planFiles(paths, preset, wishes);
  } catch (error) {
    const more = await askReading(error, prompt);
    return planAsking(paths, preset, { ...wishes, ...more }, prompt);
  }
}

/** Counts the feedback; asks for the encoding of a file that is not UTF-8 behind the rows by which its columns were guessed. */
async function surveyAsking(
  files: readonly PlannedFile[],
  preset: Preset,
  prompt: Prompt | undefined,
): Promise<{ files: readonly PlannedFile[]; survey: Survey }> {
  try {
    return { files, survey: await surveyFiles(files) };
  } catch (error) {
    const more = await askReading(error, prompt);
    const again: PlannedFile[] = [];
    for (const { path, wishes } of files)
      again.push(...(await planAsking([path], preset, { ...wishes, ...more }, prompt)));
    return surveyAsking(again, preset, prompt);
  }
}

/** How files are to be read that cannot be read as they were. @throws the error, where no answer helps */
async function askReading(error: unknown, prompt: Prompt | undefined): Promise<Wishes> {
  if (prompt === undefined || !(error instanceof OperatorError)) throw error;
  if (error instanceof OpenDateOrder) {
    prompt.say(error.message);
    const isDayFirst = await askYes(prompt, 'Does the day come first, as in 31/12/2024?', true);
    return { timeForm: isDayFirst ? 'day-first' : 'month-first' };
  }
  if (!(error instanceof NotInEncoding)) throw error;
  prompt.say(error.message);
  if (await askYes(prompt, 'Is it Windows-1252, as spreadsheets in western Europe write it?', true))
    return { encoding: 'windows-1252' };
  throw error;
}

/** Shows what the columns were taken for, and takes corrections. */
async function confirmFiles(
  planned: readonly PlannedFile[],
  { preset }: Given,
  prompt: Prompt | undefined,
): Promise<PlannedFile[]> {
  const files: PlannedFile[] = [];
  for (let file of planned) {
    for (;;) {
      const text = `${file.path}: ${describePlan(file.plan)}`;
      if (prompt === undefined) process.stderr.write(`${text}\n`);
      else prompt.say(text);
      if (prompt === undefined || (await askYes(prompt, 'Is that right?', true))) break;
      const answer = await prompt.ask(
        `Which column is what? The columns are ${file.plan.columns.join(', ')}. For example user=uid,item=sku,time=ts:`,
      );
      const again = await orSay(prompt, () =>
        planAsking([file.path], preset, { ...file.wishes, map: corrected(file.wishes.map, answer) }, prompt),
      );
      file = again?.[0] ?? file;
    }
    files.push(file);
  }
  return files;
}

/** What was said of the columns before, but for the fields that an answer names anew. */
function corrected(before: ColumnPairs = [], answer: string): ColumnPairs {
  const said = parseMap(answer);
  return [...before.filter(([field]) => !said.some(([name]) => name === field)), ...said];
}

/** From which rating on feedback is positive, where ratings decide; and the types that there are then. */
async function findRatingMin(
  files: readonly PlannedFile[],
  given: Given,
  { types, ratingMin: least, ratingMax: most }: Survey,
  prompt: Prompt | undefined,
): Promise<{ files: readonly PlannedFile[]; types: string[] }> {
  const seen = [...types.keys()];
  const isOpen = files.some(({ plan }) => plan.mapping.Rating !== undefined && plan.ratingMin === undefined);
  if (!isOpen || given.positiveTypes !== undefined || least === undefined || most === undefined) {
    return { files, types: seen };
  }
  const proposal = Math.ceil(LIKED_SHARE * most);
  if (prompt === undefined && !given.takesProposals) {
    throw new AnswerMissing(
      `there are ratings from ${least} to ${most}; say from which on they are positive, such as --positive ${proposal}`,
    );
  }
  const question = `Ratings are from ${least} to ${most}. From which on does a user like an item?`;
  const ratingMin =
    prompt === undefined
      ? proposal
      : await askUntil(prompt, question, String(proposal), (text) => parseNumber(text));
  const rated = files.map((file) => ({
    ...file,
    wishes: { ...file.wishes, ratingMin },
    plan: { ...file.plan, ratingMin },
  }));
  return { files: rated, types: [...new Set([...seen, lowTypeOf(given)])] };
}

async function findPositiveTypes(
  types: readonly string[],
  given: Given,
  prompt: Prompt | undefined,
): Promise<readonly string[]> {
  const { positiveTypes, takesProposals, wishes } = given;
  const check = (entries: readonly string[]) => {
    const known = readPositiveKinds(entries).some(({ feedbackType }) => types.includes(feedbackType));
    if (known) return entries;
    throw new OperatorError(
      `no feedback is of type ${entries.join(', ')}; the types in the files are ${types.join(', ')}`,
    );
  };
  if (positiveTypes !== undefined) return check(positiveTypes);
  // Ratings and files without types have one type that means a liking, and nothing to choose from.
  const own = wishes?.type ?? DEFAULT_TYPE;
  if (types.includes(own) && types.every((type) => [own, lowTypeOf(given)].includes(type))) return [own];
  const likely = likelyPositive(types.map((Name) => ({ Name, Count: 1, Positive: false, Read: false })));
  if (takesProposals && likely.length > 0) return likely;
  if (prompt === undefined) {
    throw new AnswerMissing(
      `the types of feedback are ${types.join(', ')}; say by which users want an item, such as --positive-types ${likely.join(',') || types[0]}`,
    );
  }
  const question = `The types of feedback are ${types.join(', ')}. By which do users say that they want an item?`;
  return askUntil(prompt, question, likely.join(','), (text) => check(splitList(text)));
}

/** Reads a list with commas between its entries. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function findPort(prompt: Prompt): Promise<number> {
  return askUntil(prompt, 'On which port shall the service listen?', '8087', parsePort);
}

async function findKey(prompt: Prompt): Promise<string> {
  const answer = await prompt.ask(
    'API key that callers must send? A key, "new" for one made up, or "none":',
    'none',
  );
  if (answer === 'none') return '';
  return answer === 'new' ? randomBytes(KEY_BYTES).toString('base64url') : answer;
}

/** Asks until the answer can be read. */
async function askUntil<T>(
  prompt: Prompt,
  question: string,
  proposal: string,
  read: (text: string) => T,
): Promise<T> {
  for (;;) {
    const answer = await prompt.ask(question, proposal);
    const value = await orSay(prompt, async () => read(answer));
    if (value !== undefined) return value;
  }
}

/** Says what is wrong instead of throwing it. */
async function orSay<T>(prompt: Prompt, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    prompt.say(error.message);
    return undefined;
  }
}
