import { randomBytes } from 'node:crypto';
import { counted } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { describePlan } from '../../exchange/describe-plan.ts';
import { DEFAULT_LOW_TYPE } from '../../exchange/import-plan.ts';
import { judgeRefused } from '../../exchange/proposals.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import { parseKnownPort } from '../common/options.ts';
import { type PlannedFile, withItems } from './files-to-import.ts';
import { confirmFiles, findFiles, surveyAsking } from './find-files.ts';
import { BadRows, type Given } from './given.ts';
import { findGuests, findLeftOut } from './left-out.ts';
import type { WindowChoice } from './popular-window.ts';
import { askUntil, askYes, type Prompt } from './prompt.ts';
import { findRepeatedTypes } from './repeats.ts';
import {
  findPositiveTypes,
  findRatingMin,
  findTypes,
  findUnrated,
  lowTypeOf,
  takesReturnsBack,
} from './what-is-positive.ts';

/** All that is needed to set a service up. */
export interface Answers {
  readonly files: readonly PlannedFile[];
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
  /** Types of which every event counts; absent where nothing repeats. */
  readonly repeatedTypes?: readonly string[] | undefined;
  /** Time of the newest feedback, milliseconds of Unix time; undefined where none has a time. */
  readonly newestMs: number | undefined;
  /** The window of popular items; absent where it is the usual one. */
  readonly popular?: WindowChoice | undefined;
  readonly port: number | undefined;
  readonly apiKey: string | undefined;
  readonly evaluates: boolean;
  /** Rows that cannot be stored are left out. */
  readonly skipsBad: boolean;
  /** Rows that are left out by the state of their order, by that. */
  readonly leftOut?: ReadonlyMap<string, number>;
  /** A value below 0 takes back what was bought before. */
  readonly sumsValues: boolean;
}

const KEY_BYTES = 24;
/**
 * Asks for what is left open. All files are read through before; nothing is stored.
 * @param prompt undefined where there is no terminal
 * @throws AnswerMissing when something is left open that cannot be asked
 * @throws BadRows when rows cannot be stored and are not to be left out
 * @throws OperatorError when the files hold nothing to learn from
 */
export async function findAnswers(given: Given, prompt: Prompt | undefined): Promise<Answers> {
  const asking = given.takesProposals ? undefined : prompt;
  const planned = await findFiles(given, prompt);
  const confirmed = withItems(await confirmFiles(planned, given, asking));
  for (const { path, plan } of confirmed)
    if (plan.isOfFeedback) tell(asking, `${path}, besides: ${describePlan(plan)}`);
  if (!confirmed.some(({ plan }) => plan.kind === 'feedback')) throw new OperatorError(noFeedback(confirmed));
  const typed = await findTypes(confirmed, given, asking);
  const say = (line: string) => tell(asking, line);
  const stated = await findLeftOut(await surveyAsking(typed, given, asking), given, asking, say);
  const { files: named, survey } = await findGuests(stated, given, asking, say);
  const readable = await findUnrated(named, given, survey, asking);
  for (const [when, { first, rows }] of survey.oddTimes)
    tell(
      asking,
      `${counted(rows, 'rows')} ${rows === 1 ? 'is' : 'are'} of a time ${when}, such as ${first}, and kept as such.`,
    );
  const skipsBad = await leavesBadOut(readable, survey, given, asking);
  if (survey.types.size === 0) throw new OperatorError(noFeedback(readable));
  const { files, types } = await findRatingMin(readable, given, survey, asking);
  const positiveTypes = await findPositiveTypes(types, files, given, survey, asking);
  const lowType = lowTypeOf(given);
  const readTypes = [...(types.includes(lowType) ? [lowType] : []), DEFAULT_LOW_TYPE];
  const isPositive = (type: string) =>
    readPositiveKinds(positiveTypes).some(({ feedbackType }) => feedbackType === type);
  return {
    files,
    positiveTypes,
    // Clients send "read" for what they have shown, whatever is in the files.
    readTypes: [...new Set(readTypes)].filter((type) => !isPositive(type)),
    repeatedTypes: await findRepeatedTypes(positiveTypes, files, given, survey, asking),
    newestMs: survey.newestMs,
    port: given.port ?? (asking && (await findPort(asking))),
    apiKey: given.apiKey ?? (asking && (await findKey(asking))),
    evaluates: given.evaluates ?? (asking ? await askYes(asking, 'Evaluate the lists, too?', false) : false),
    skipsBad,
    leftOut: survey.leftOut,
    sumsValues: given.sumsValues === true || takesReturnsBack(positiveTypes, survey),
  };
}

function tell(prompt: Prompt | undefined, line: string): void {
  if (prompt === undefined) process.stderr.write(`${line}\n`);
  else prompt.say(line);
}

/** Shows the rows that cannot be stored, and asks whether to leave them out. @throws BadRows */
async function leavesBadOut(
  files: readonly PlannedFile[],
  survey: Survey,
  { skipsBad = false }: Given,
  prompt: Prompt | undefined,
): Promise<boolean> {
  const { rows, refused, refusals } = survey;
  if (refused === 0) return skipsBad;
  const say = (line: string) => tell(prompt, line);
  for (const { first, rows: alike } of refusals.values()) {
    for (const { path, line, reason } of first) say(`${path}:${line}: ${reason}`);
    if (alike > first.length)
      say(`... and ${counted(alike - first.length, 'more rows')} for the same reason`);
  }
  const found = `${counted(refused, 'rows')} of ${counted(rows, 'rows').split(' ')[0]} cannot be stored`;
  if (skipsBad) {
    say(`${found} and will be left out.`);
    return true;
  }
  if (prompt === undefined)
    throw new BadRows(`${found}; nothing was written. To leave them out, add --skip-bad`, files);
  const { isFew, lacking } = judgeRefused(survey);
  if (lacking !== '') say(`${lacking}: no feedback.`);
  if (!isFew)
    prompt.say('That many are rather a sign of a column that was mistaken, or of times read wrongly.');
  if (await askYes(prompt, `${found}. Leave them out?`, isFew)) return true;
  throw new BadRows(`${found}; nothing was written`, files);
}

function noFeedback(files: readonly PlannedFile[]): string {
  const empty = files.find(({ plan }) => plan.kind === 'feedback');
  if (empty !== undefined) return `${empty.path} holds no row of feedback that can be stored`;
  const columns = files.map(({ path, plan }) => `${path} has ${plan.columns.join(', ')}`).join('; ');
  const missing = files.every(({ plan }) => plan.kind === 'users') ? 'item' : 'user';
  return `no file was taken for feedback, rows with a user and an item, and without it there is nothing to recommend from: ${columns}. If a column holds the user or the item, say which, such as --map ${missing}=COLUMN`;
}

function findPort(prompt: Prompt): Promise<number> {
  return askUntil(prompt, 'On which port shall the service listen?', '8087', parseKnownPort);
}

async function findKey(prompt: Prompt): Promise<string> {
  const answer = await prompt.ask(
    'API key that callers must send? A key, "new" for one made up, or "none":',
    'none',
  );
  if (answer === 'none') return '';
  return answer === 'new' ? randomBytes(KEY_BYTES).toString('base64url') : answer;
}
