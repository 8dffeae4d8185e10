/** Why nothing can be recommended for want of feedback, and what to do: the same words in the log, the status and the dashboard. */

import type { FeedbackType, Trouble } from './admin-schemas.ts';
import { groupDigits } from './group-digits.ts';
import { isAboveZero, readPositiveKinds } from './positive-feedback-types.ts';

/** Feedback to learn from. */
export interface FeedbackFacts {
  readonly positiveTypes: readonly string[];
  /** Feedback in the store, by type. */
  readonly types: readonly FeedbackType[];
  /** Types that placements go by. */
  readonly placedTypes: readonly string[];
  readonly items: number;
  readonly feedback: number;
  readonly positives: number;
  /** False while feedback is counted: there is more by type than is known. */
  readonly isCounted: boolean;
  /** Why it cannot be counted, though that was tried again and again. */
  readonly countError?: string | undefined;
}

const TYPES_KEY = '[recommend.data_source] positive_feedback_types';
const TYPES_VARIABLE = 'FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES';

/** Words in the names of types by which people say that they want an item, and those that take it back. */
const WANTED =
  /like|lov|fav|star|buy|bought|purchas|order|cart|click|play|watch|listen|complet|added|share|save|subscri|follow|bookmark|upvote|wish|payment|sale|sold|checkout|loan|borrow|enrol|booking|attend|transact/i;
const UNWANTED =
  /dis|un|not|neg|skip|hide|remov|return|refund|down|cancel|report|block|fail|declin|void|deactiv|withdr|abandon|expir/i;
/** Of types none of which says as much, those by which people come to an item. */
const SEEN = /view|visit|read|open|attempt|submit|download/i;

/** Types of feedback whose names alone mark them as positive; where none does, those by which people come to an item. */
export function likelyPositive(types: readonly FeedbackType[]): string[] {
  const named = (words: RegExp) =>
    types
      .filter(({ Name, Count }) => Count > 0 && words.test(Name) && !UNWANTED.test(Name))
      .map(({ Name }) => Name);
  const wanted = named(WANTED);
  return wanted.length > 0 ? wanted : named(SEEN);
}

/** Why there is nothing to learn from, in words. */
export function whyNothing(facts: FeedbackFacts): string {
  const trouble = typeTrouble(facts) ?? emptyTrouble(facts);
  if (trouble !== undefined) return `${trouble.Message} ${trouble.Advice}`;
  return 'No positive feedback is young enough to count; see [recommend.data_source] positive_feedback_ttl.';
}

/** Nothing counts as positive. */
export function typeTrouble({
  positiveTypes,
  types,
  positives,
  feedback,
  isCounted,
}: FeedbackFacts): Trouble | undefined {
  if (positives > 0 || (!isCounted && positiveTypes.length > 0)) return undefined;
  const seen = types.filter(({ Count }) => Count > 0);
  const list = seen.map(({ Name, Count }) => `${Name} (${groupDigits(Count)})`).join(', ');
  if (positiveTypes.length === 0) {
    const likely = likelyPositive(types);
    const proposal = likely.length > 0 ? likely : ['like'];
    return {
      Code: 'no_positive_types',
      Severity: 'error',
      Message: `No positive feedback types are configured${seen.length > 0 ? `; seen so far: ${list}` : ''}.`,
      Advice:
        `Name those by which a user says "I want this": set ${TYPES_KEY} = ${JSON.stringify(proposal)} ` +
        `(or ${TYPES_VARIABLE}=${proposal.join(',')}) and start again.`,
    };
  }
  if (feedback === 0) return undefined;
  return {
    Code: 'no_positive_feedback',
    Severity: 'error',
    Message: `None of the feedback is of a positive type (${positiveTypes.join(', ')}); seen so far: ${list}.`,
    Advice: `Correct ${TYPES_KEY}, or send feedback of these types.`,
  };
}

const LISTED = 5;

/** Feedback is stored that is neither positive nor read. */
export function unusedTrouble(facts: FeedbackFacts): Trouble | undefined {
  const { others } = unlearned(facts);
  if (others.length === 0) return undefined;
  return {
    Code: 'unused_types',
    Severity: 'warning',
    Message: `Feedback is stored that is neither positive (${facts.positiveTypes.join(', ')}) nor read, so nothing is learned from it: ${listed(others)}.`,
    Advice:
      `Add types by which a user says "I want this" to ${TYPES_KEY}, others to read_feedback_types, and start again; ` +
      'or send the feedback by the name of a type that is there.',
  };
}

/** Feedback is stored without the value above 0 by which its type is positive. */
export function valueTrouble(facts: FeedbackFacts): Trouble | undefined {
  const [first, ...more] = unlearned(facts).valueless;
  if (first === undefined) return undefined;
  return {
    Code: 'no_value',
    Severity: 'hint',
    Message: `Feedback is stored that is not positive, for it has no value above 0: ${listed([first, ...more])}.`,
    Advice: `That is right for returns. Else send it with a value: {"FeedbackType": ${JSON.stringify(first.Name)}, ..., "Value": 1}.`,
  };
}

/** Types that are neither positive nor read, and that no placement goes by; a low rating is what it should be and none of these. */
function unlearned({ positiveTypes, types, placedTypes, positives }: FeedbackFacts) {
  const kinds = readPositiveKinds(positiveTypes);
  const kindsOf = ({ Name }: FeedbackType) => kinds.filter(({ feedbackType }) => feedbackType === Name);
  const unused = types.filter(
    ({ Name, Count, Positive, Read }) => Count > 0 && !Positive && !Read && !placedTypes.includes(Name),
  );
  // Where nothing is positive that is what is told.
  if (positives === 0) return { others: [], valueless: [] };
  return {
    others: unused.filter((type) => kindsOf(type).length === 0).sort((a, b) => b.Count - a.Count),
    valueless: unused.filter((type) => kindsOf(type).some(isAboveZero)),
  };
}

function listed(types: readonly FeedbackType[]): string {
  const some = types.slice(0, LISTED).map(({ Name, Count }) => `${Name} (${groupDigits(Count)})`);
  const more = types.length - some.length;
  return [...some, ...(more > 0 ? [`and ${groupDigits(more)} more`] : [])].join(', ');
}

/** Feedback behind popular items is not counted yet. */
export function countTrouble({ isCounted, countError, feedback }: FeedbackFacts): Trouble | undefined {
  if (isCounted) return undefined;
  if (countError !== undefined)
    return {
      Code: 'feedback_not_counted',
      Severity: 'error',
      Message: `The ${groupDigits(feedback)} feedback could not be counted: ${countError}. Popular items, numbers by type and the ranking of lists go by what has come since the start, or was counted before.`,
      Advice: 'The log has the whole error. It is tried again every minute.',
    };
  return {
    Code: 'counting_feedback',
    Severity: 'hint',
    Message: `The ${groupDigits(feedback)} feedback are being counted, for no counts of them were saved; until that is done, popular items and numbers by type are those of what has come since, and no list is made.`,
    Advice: 'Nothing is to be done: a worker counts about a million a second.',
  };
}

export function emptyTrouble({ items, feedback, positiveTypes }: FeedbackFacts): Trouble | undefined {
  if (feedback > 0) return undefined;
  return {
    Code: items === 0 ? 'no_data' : 'no_feedback',
    Severity: 'hint',
    Message: items === 0 ? 'There is no data yet.' : 'There is no feedback yet.',
    Advice:
      'Send it to POST /api/users, /api/items and /api/feedback, or use the Import page of the dashboard' +
      `${positiveTypes.length > 0 ? `; ${positiveTypes.join(', ')} counts as positive` : ''}.`,
  };
}
