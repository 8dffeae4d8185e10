import { likelyPositive } from '../../domain/feedback-troubles.ts';
import { counted } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { isAboveZero, type PositiveKind, readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { DEFAULT_LOW_TYPE, DEFAULT_TYPE, type FilePlan } from '../../exchange/import-plan.ts';
import { aboveZeroIn, describeZeros, likedFrom, typeByNames } from '../../exchange/proposals.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import { splitList } from '../common/column-options.ts';
import { parseNumber } from '../common/options.ts';
import type { PlannedFile } from './files-to-import.ts';
import { AnswerMissing, type Given } from './given.ts';
import { withSaid } from './left-out.ts';
import { askUntil, askYes, type Prompt } from './prompt.ts';

/**
 * The type of rows in files without a column for it: the one that `--positive-types` names, else what is asked, with
 * "purchase" proposed for rows of orders. Ratings tell a liking from a reading.
 */
export async function findTypes(
  files: readonly PlannedFile[],
  given: Given,
  prompt: Prompt | undefined,
): Promise<PlannedFile[]> {
  const isOpen = ({ plan, wishes }: PlannedFile) => isWithoutType(plan) && wishes.type === undefined;
  const open = files.filter((file) => isOpen(file) && !isRated(file.plan));
  const feedback = files.filter(({ plan }) => plan.kind === 'feedback');
  const only = feedback.every(isOpen) ? onlyType(given) : undefined;
  if (only !== undefined) return files.map((file) => (isOpen(file) ? ofType(file, only) : file));
  if (open.length === 0 || given.positiveTypes !== undefined) return [...files];
  const types = new Map<string, string>();
  for (const proposal of new Set(open.map(({ plan }) => likelyType(plan, given)))) {
    const alike = open.filter(({ plan }) => likelyType(plan, given) === proposal);
    const names = alike.map(({ path }) => path).join(', ');
    const question = `What did the user do in a row of ${names}? One word, such as purchase, like or view:`;
    types.set(
      proposal,
      prompt === undefined ? proposal : await askUntil(prompt, question, proposal, parseType),
    );
  }
  return files.map((file) =>
    open.includes(file) ? ofType(file, types.get(likelyType(file.plan, given))!) : file,
  );
}

/** The likely type of a file's rows where nothing says it: purchases, if it has columns such as those of orders. */
export function likelyType(plan: FilePlan, given: Given): string {
  const isSaid = !isWithoutType(plan) || isRated(plan) || given.wishes?.type !== undefined;
  return isSaid ? plan.type : (onlyType(given) ?? typeByNames(plan));
}

/** The type that alone is said to be positive. */
function onlyType({ positiveTypes = [] }: Given): string | undefined {
  const named = new Set(readPositiveKinds(positiveTypes).map((kind) => kind.feedbackType));
  return named.size === 1 ? [...named][0] : undefined;
}

function isWithoutType({ kind, isApiForm, mapping }: FilePlan): boolean {
  return kind === 'feedback' && !isApiForm && mapping.FeedbackType === undefined;
}

function isRated({ mapping }: FilePlan): boolean {
  return mapping.Rating !== undefined;
}

function ofType(file: PlannedFile, type: string): PlannedFile {
  return { ...file, wishes: { ...file.wishes, type }, plan: { ...file.plan, type } };
}

/** Reads the name of a type that a list of positive types can hold. */
function parseType(text: string): string {
  if (/[,<>=/]/.test(text)) throw new OperatorError('a type has none of the signs , < > = /');
  return text;
}

/** Says that a rating of 0 is none where the scale begins above it, and asks; where nobody is asked it is taken for none. */
export async function findUnrated(
  files: readonly PlannedFile[],
  given: Given,
  survey: Survey,
  prompt: Prompt | undefined,
): Promise<readonly PlannedFile[]> {
  const decide = given.positiveTypes === undefined || given.wishes?.ratingMin !== undefined;
  const found = decide && given.wishes?.zeroRating === undefined ? describeZeros(survey) : undefined;
  if (found === undefined) return files;
  const rows = files.find(({ plan }) => plan.kind === 'feedback')?.plan.type;
  const meaning = `given, as where it is empty: a "${rows}" all the same`;
  const isNone = await askYes(
    prompt,
    `${found}. Does 0 mean that none was ${meaning}?`,
    true,
    `${found}: taken for none ${meaning}; --zero-rating lowest takes it for the lowest.`,
  );
  return withSaid(files, { zeroRating: isNone ? 'none' : 'lowest' });
}

/** From which rating on feedback is positive, where ratings decide; and the types that there are then. */
export async function findRatingMin(
  files: readonly PlannedFile[],
  given: Given,
  { types, ratingMin, ratingMax: most, ratings }: Survey,
  prompt: Prompt | undefined,
): Promise<{ files: readonly PlannedFile[]; types: string[] }> {
  const seen = [...types.keys()];
  const isOpen = files.some(({ plan }) => plan.mapping.Rating !== undefined && plan.ratingMin === undefined);
  const isUnrated = files.some(({ plan }) => plan.zeroRating === 'none');
  const least = isUnrated ? Math.min(...aboveZeroIn(ratings).keys()) : ratingMin;
  if (!isOpen || given.positiveTypes !== undefined || least === undefined || most === undefined) {
    return { files, types: seen };
  }
  const proposal = likedFrom(most);
  if (prompt === undefined && !given.takesProposals) {
    throw new AnswerMissing(
      `there are ratings from ${least} to ${most}; say from which on they are positive, such as --positive ${proposal}`,
    );
  }
  const question = `Ratings are from ${least} to ${most}. From which on does a user like an item?`;
  const from =
    prompt === undefined
      ? proposal
      : await askUntil(prompt, question, String(proposal), (text) => parseNumber(text));
  if (prompt === undefined)
    process.stderr.write(
      `Ratings are from ${least} to ${most}: those from ${from} on are likings; --positive names another.\n`,
    );
  const rated = files.map((file) => ({
    ...file,
    wishes: { ...file.wishes, ratingMin: from },
    plan: { ...file.plan, ratingMin: from },
  }));
  return { files: rated, types: [...new Set([...seen, lowTypeOf(given)])] };
}

/**
 * By which types users say that they want an item, returns left out.
 * @param files with what type their rows are of
 * @throws AnswerMissing @throws OperatorError when a type is named that no file has
 */
export async function findPositiveTypes(
  types: readonly string[],
  files: readonly PlannedFile[],
  given: Given,
  survey: Survey,
  prompt: Prompt | undefined,
): Promise<readonly string[]> {
  const { positiveTypes, takesProposals } = given;
  const check = (entries: readonly string[]) => {
    if (entries.length === 0)
      throw new OperatorError(`name one of ${types.join(', ')}, or several with commas`);
    const known = readPositiveKinds(entries).some(({ feedbackType }) => types.includes(feedbackType));
    if (known) return entries;
    const open = files.find(({ plan }) => isWithoutType(plan));
    const advice = open === undefined ? '' : `; say with --type which the rows of ${open.path} are`;
    throw new OperatorError(
      `no feedback is of type ${entries.join(', ')}; the types in the files are ${types.join(', ')}${advice}`,
    );
  };
  if (positiveTypes !== undefined) return check(positiveTypes);
  const without = (entries: readonly string[]) => withoutReturns(entries, files, given, survey, prompt);
  // Ratings and files without types have one type that means a liking, and nothing to choose from.
  const own = files.find(({ plan }) => isWithoutType(plan))?.plan.type ?? given.wishes?.type ?? DEFAULT_TYPE;
  if (types.includes(own) && types.every((type) => [own, lowTypeOf(given)].includes(type)))
    return without([own]);
  const named = likelyPositive(types.map((Name) => ({ Name, Count: 1, Positive: false, Read: false })));
  const likely = named.length === 0 && types.length === 1 ? types : named;
  if (takesProposals && likely.length > 0) return without(likely);
  const open = `the types of feedback are ${types.join(', ')}; say by which users want an item, such as --positive-types '${likely.join(',') || types[0]}'`;
  if (prompt === undefined) throw new AnswerMissing(open);
  const question = `The types of feedback are ${types.join(', ')}. By which do users say that they want an item?`;
  const read = (text: string) => check(splitList(text));
  return without(await askUntil(prompt, question, likely.join(','), read, new OperatorError(open)));
}

/** The entries, those above 0 only where a value below 0 is a return. */
async function withoutReturns(
  entries: readonly string[],
  files: readonly PlannedFile[],
  given: Given,
  { types, negatives }: Survey,
  prompt: Prompt | undefined,
): Promise<string[]> {
  const kept: string[] = [];
  for (const entry of entries) {
    const kind = readPositiveKinds([entry])[0]!;
    const { feedbackType, threshold } = kind;
    const count = negatives.get(feedbackType) ?? 0;
    const isOpen = count > 0 && threshold === undefined;
    const found = `${counted(count, 'rows')} of ${feedbackType} ${count === 1 ? 'has' : 'have'} a ${valueColumn(files)} below 0`;
    // Most of what is bought is kept: where most is below 0, that is how a purchase is booked.
    const areMost = count > (types.get(feedbackType) ?? 0) / 2;
    const areReturns = isOpen && (await askReturns(found, aboveZero(kind), !areMost, given, prompt));
    kept.push(areReturns ? aboveZero(kind) : entry);
  }
  return kept;
}

/** True when rows of a type that is positive above 0 only have values below it, which are returns then. */
export function takesReturnsBack(positiveTypes: readonly string[], { negatives }: Survey): boolean {
  return readPositiveKinds(positiveTypes).some(
    (kind) => isAboveZero(kind) && (negatives.get(kind.feedbackType) ?? 0) > 0,
  );
}

/** @param found what was found @param above the entry without returns @param isLikely whether they are returns */
async function askReturns(
  found: string,
  above: string,
  isLikely: boolean,
  { takesProposals }: Given,
  prompt: Prompt | undefined,
): Promise<boolean> {
  if (prompt === undefined && !takesProposals)
    throw new AnswerMissing(`${found}; if these are returns, say --positive-types '${above}'`);
  const taken = isLikely ? 'returns, not for positive feedback' : 'positive feedback, since most rows are so';
  return askYes(prompt, `${found}: are they returns?`, isLikely, `${found}: they are taken for ${taken}`);
}

/** The name of the column of values, in the first file that has one. */
function valueColumn(files: readonly PlannedFile[]): string {
  const plan = files.find(({ plan: { mapping } }) => mapping.Value !== undefined)?.plan;
  return plan?.columns[plan.mapping.Value!] ?? 'Value';
}

function aboveZero({ feedbackType, weight }: PositiveKind): string {
  return `${feedbackType}>0${weight === 1 ? '' : `=${weight}`}`;
}

/** The type of feedback with a low rating. */
export function lowTypeOf({ wishes }: Given): string {
  return wishes?.lowType ?? DEFAULT_LOW_TYPE;
}
