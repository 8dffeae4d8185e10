import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import type { PlannedFile } from './files-to-import.ts';
import type { Given } from './given.ts';
import { askYes, type Prompt } from './prompt.ts';

/** Below this share a shop has no repeats worth a question. */
const SHARE_MIN = 0.05;
const FRACTIONS: readonly (readonly [share: number, words: string])[] = [
  [1 / 10, 'a tenth'],
  [1 / 5, 'a fifth'],
  [1 / 4, 'a quarter'],
  [1 / 3, 'a third'],
  [2 / 5, 'two fifths'],
  [1 / 2, 'half'],
  [3 / 5, 'three fifths'],
  [2 / 3, 'two thirds'],
  [3 / 4, 'three quarters'],
];
/** A fraction stands for shares this near to it. */
const NEAR = 0.02;
const OF_ORDERS = /purchas|order|buy|bought/i;

/** A finding in words of a shop, such as "about a third of your purchases are repeat purchases". */
function describeRepeats(type: string, share: number): string {
  const [, words] = FRACTIONS.find(([fraction]) => Math.abs(share - fraction) <= NEAR) ?? [];
  const part = words ?? `${Math.round(share * 100)} %`;
  return OF_ORDERS.test(type)
    ? `About ${part} of your purchases are repeat purchases: a customer bought the article before`
    : `About ${part} of the feedback of type ${type} is repeated: the user came to the item before`;
}

/**
 * Finds the positive types of which every event is to count: those that repeat, where that is said, taken or agreed to. Ratings are
 * changed and not repeated.
 * @returns undefined where nothing repeats
 */
export async function findRepeatedTypes(
  positiveTypes: readonly string[],
  files: readonly PlannedFile[],
  given: Given,
  survey: Survey,
  prompt: Prompt | undefined,
): Promise<string[] | undefined> {
  if (given.repeats === 'first') return [];
  const isRated = files.some(
    ({ plan: { kind, mapping } }) => kind === 'feedback' && mapping.Rating !== undefined,
  );
  const types = new Set(readPositiveKinds(positiveTypes).map(({ feedbackType }) => feedbackType));
  if (given.repeats === 'count') return [...types];
  let repeated: string[] | undefined;
  for (const type of isRated ? [] : types) {
    const share = survey.repeats.of(type);
    if (share < SHARE_MIN) continue;
    const found = describeRepeats(type, share);
    const told = `${found}. Each of them counts; with --repeats first only the first would.`;
    const counts = await askYes(prompt, `${found}. Count each of them?`, true, told);
    repeated = [...(repeated ?? []), ...(counts ? [type] : [])];
  }
  return repeated;
}
