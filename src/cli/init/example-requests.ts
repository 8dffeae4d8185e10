import { apiKeys } from '../../config/api-keys.ts';
import { baseUrl } from '../../config/base-url.ts';
import type { Config } from '../../config/config.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { kindOf, type PositiveKind, readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import type { DataStore } from '../../store/data-store.ts';
import { commandName } from '../common/command-name.ts';
import { type Caller, neighborsPath, recommendPath } from '../playground/caller.ts';
import {
  askItem,
  askRecommended,
  inOneLine,
  itemLine,
  type RecommendedItem,
  reasonText,
  type TitledItem,
} from '../playground/recommended-items.ts';

/** A user of the data with what the service recommends. */
export interface Example {
  readonly userId: string;
  /** Items with positive feedback of the user. */
  readonly likes: number;
  /** The latest of them first. */
  readonly liked: readonly LikedItem[];
  readonly recommended: readonly RecommendedItem[];
}

interface LikedItem extends TitledItem {
  /** RFC 3339; `""` where it is not known. */
  readonly time: string;
}

/** One of a user's likes, as the store has it. */
interface Like {
  readonly itemId: string;
  readonly time: string;
}

/** Feedback that is looked through for users to show. */
const PAGES = 20;
const PAGE_RECORDS = 1000;
const ENTRIES = 5;
/** Likes of a newcomer, and of somebody in the middle, at most; whoever has more is a regular. */
const NEWCOMER_LIKES_MAX = 3;
const MIDDLE_LIKES_MAX = 10;

/**
 * Finds three users, a newcomer, one with some likes and a regular, and asks the running service for their lists.
 * @returns the one with the most likes last; fewer than three where the data has no such users
 */
export async function findExamples(data: DataStore, ask: Caller, config: Config): Promise<Example[]> {
  const likesOf = await readLikes(data, config.recommend.data_source.positive_feedback_types);
  const examples: Example[] = [];
  for (const [userId, likes] of pickKinds(likesOf)) examples.push(await exampleOf(ask, userId, likes));
  return examples;
}

async function exampleOf(ask: Caller, userId: string, likes: readonly Like[]): Promise<Example> {
  const latest = [...likes].sort((a, b) => Date.parse(b.time) - Date.parse(a.time)).slice(0, ENTRIES);
  return {
    userId,
    likes: likes.length,
    liked: await Promise.all(
      latest.map(async ({ itemId, time }) => ({ ...(await askItem(ask, itemId)), time })),
    ),
    recommended: await askRecommended(ask, userId, ENTRIES),
  };
}

/** The first newcomer, the first in the middle, and the user with the most likes. */
function pickKinds(likesOf: ReadonlyMap<string, readonly Like[]>): [string, readonly Like[]][] {
  const users = [...likesOf];
  const within = (least: number, most: number) =>
    users.find(([, { length }]) => length >= least && length <= most);
  const regular = users.reduce<(typeof users)[0] | undefined>(
    (most, user) => (user[1].length > (most?.[1].length ?? 0) ? user : most),
    undefined,
  );
  const picked = [
    within(1, NEWCOMER_LIKES_MAX),
    within(NEWCOMER_LIKES_MAX + 1, MIDDLE_LIKES_MAX),
    regular,
  ].filter((user) => user !== undefined);
  return [...new Map(picked)];
}

/** The positive feedback of the users among the first records. */
async function readLikes(data: DataStore, positiveTypes: readonly string[]): Promise<Map<string, Like[]>> {
  const kinds = readPositiveKinds(positiveTypes);
  const likesOf = new Map<string, Like[]>();
  let cursor = '';
  for (let page = 0; page < PAGES; page++) {
    const { rows, cursor: next } = await data.getFeedbackPage(PAGE_RECORDS, cursor);
    for (const { UserId, ItemId, FeedbackType, Value = 0, Timestamp } of rows) {
      if (kindOf(kinds, FeedbackType, Value) === undefined) continue;
      getOrPut(likesOf, UserId, () => []).push({ itemId: ItemId, time: Timestamp });
    }
    cursor = next;
    if (cursor === '') break;
  }
  return likesOf;
}

/** Where the service will be, three requests with ids of the data, and feedback that counts as positive. */
export function requestsOf(
  config: Config,
  examples: readonly Example[],
): { readonly url: string; readonly requests: readonly string[]; readonly feedback?: readonly object[] } {
  const example = examples.at(-1);
  const { host, port, ssl_cert } = config.server;
  const url = baseUrl({ protocol: ssl_cert === '' ? 'http' : 'https', host, port });
  const paths =
    example === undefined
      ? []
      : [recommendPath(example.userId, ENTRIES), neighborsPath(example.liked[0]!.itemId, ENTRIES)];
  const requests = [...paths, `/api/popular?n=${ENTRIES}`].map((path) => url + path);
  const feedback = example && feedbackOf(config, example);
  return { url, requests, ...(feedback !== undefined && { feedback: [feedback] }) };
}

/** Feedback of the user on an item that is recommended, or else liked, such as counts as positive. */
function feedbackOf(config: Config, { userId, liked, recommended }: Example): object | undefined {
  const [kind] = readPositiveKinds(config.recommend.data_source.positive_feedback_types);
  if (kind === undefined) return undefined;
  const value = valueThatCounts(kind);
  const { itemId } = recommended[0] ?? liked[0]!;
  return {
    ...{ FeedbackType: kind.feedbackType, UserId: userId, ItemId: itemId },
    ...(value !== undefined && { Value: value }),
  };
}

/** A value with which feedback is of a kind; undefined where it needs none. */
function valueThatCounts({ threshold }: PositiveKind): number | undefined {
  if (threshold === undefined) return undefined;
  const { operator, value } = threshold;
  if (operator === '>') return value + 1;
  return operator === '<' ? value - 1 : value;
}

/** Next steps: the line that starts the service, and requests with ids of the data. */
export function describeNext(file: string, config: Config, examples: readonly Example[]): string {
  const { url, requests, feedback } = requestsOf(config, examples);
  const key = apiKeys(config).length > 0 ? ' -H "X-API-Key: $FURZE_SERVER_API_KEY"' : '';
  // In JSON an apostrophe can be written in another way, which ends no word of a shell.
  const body = JSON.stringify(feedback).replaceAll("'", String.raw`\u0027`);
  const post =
    feedback === undefined
      ? ''
      : `Tell it what a user does; what counts as positive is ${config.recommend.data_source.positive_feedback_types.join(', ')}:
  curl -X POST '${url}/api/feedback'${key} -d '${body}'
`;
  return `${examples.map(describeExample).join('')}
Start the service:
  ${commandName()} serve --config ${file}
Then try it${key === '' ? '' : `, with FURZE_SERVER_API_KEY set to the key in ${file}`}:
${requests.map((request) => `  curl '${request.replaceAll("'", '%27')}'${key}`).join('\n')}
${post}
Dashboard: ${url}/
`;
}

function describeExample({ userId, likes, liked, recommended }: Example): string {
  const had = liked.map((item) => itemLine(item, item.time === '' ? '' : `, ${item.time.slice(0, 10)}`));
  const gets = recommended.map((item) => itemLine(item, reasonText(item)));
  const next =
    gets.length > 0
      ? `is recommended (behind <- what speaks most for it)\n${gets.join('')}`
      : 'is recommended nothing: no other item is left.\n';
  const more =
    likes > liked.length
      ? `${likes} items, the latest of them`
      : `${likes} ${likes === 1 ? 'item' : 'items'}`;
  return `
User ${inOneLine(userId)} has positive feedback on ${more}
${had.join('')}and ${next}`;
}
