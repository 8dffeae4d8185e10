import { baseUrl } from '../../domain/base-url.ts';
import type { Config } from '../../domain/config/config.ts';
import { apiKeys } from '../../domain/config/schema.ts';
import type { Item } from '../../domain/entities.ts';
import { kindOf, type PositiveKind, readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import type { DataStore } from '../../store/data-store.ts';
import { commandName } from '../command-name.ts';
import { type Caller, recommendPath } from '../playground/caller.ts';

/** A user of the data with what the service recommends. */
export interface Example {
  readonly userId: string;
  /** What the user gave positive feedback on. */
  readonly liked: readonly Titled[];
  readonly recommended: readonly Titled[];
}

interface Titled {
  readonly itemId: string;
  readonly title: string;
}

/** Feedback that is looked through for a user with much of it. */
const PAGES = 20;
const PAGE_RECORDS = 1000;
const ENTRIES = 5;
/** Characters of a title that are shown. */
const SHOWN_CHARACTERS = 100;

/** Looks for a user to show, and asks the running service what it recommends. Undefined without positive feedback. */
export async function findExample(
  data: DataStore,
  ask: Caller,
  config: Config,
): Promise<Example | undefined> {
  const found = await userWithMost(data, config.recommend.data_source.positive_feedback_types);
  if (found === undefined) return undefined;
  const [userId, liked] = found;
  const recommended = await ask<string[]>(recommendPath(userId, ENTRIES));
  const titled = (itemIds: readonly string[]) =>
    Promise.all(
      itemIds.slice(0, ENTRIES).map(async (itemId) => {
        const item = await ask<Item>(`/api/item/${encodeURIComponent(itemId)}`);
        return { itemId, title: item.Comment };
      }),
    );
  return { userId, liked: await titled(liked), recommended: await titled(recommended) };
}

/** The user with the most positive feedback among the first records, and the items it is about. */
async function userWithMost(
  data: DataStore,
  positiveTypes: readonly string[],
): Promise<[string, string[]] | undefined> {
  const kinds = readPositiveKinds(positiveTypes);
  const itemsOf = new Map<string, string[]>();
  let cursor = '';
  for (let page = 0; page < PAGES; page++) {
    const { rows, cursor: next } = await data.getFeedbackPage(PAGE_RECORDS, cursor);
    for (const { UserId, ItemId, FeedbackType, Value = 0 } of rows) {
      if (kindOf(kinds, FeedbackType, Value) === undefined) continue;
      itemsOf.set(UserId, [...(itemsOf.get(UserId) ?? []), ItemId]);
    }
    cursor = next;
    if (cursor === '') break;
  }
  let best: [string, string[]] | undefined;
  for (const entry of itemsOf) if (entry[1].length > (best?.[1].length ?? 0)) best = entry;
  return best;
}

/** Where the service will be, three requests with ids of the data, and feedback that counts as positive. */
export function requestsOf(
  config: Config,
  example: Example | undefined,
): { readonly url: string; readonly requests: readonly string[]; readonly feedback?: readonly object[] } {
  const { host, port, ssl_cert } = config.server;
  const url = baseUrl({ protocol: ssl_cert === '' ? 'http' : 'https', host, port });
  const paths =
    example === undefined
      ? []
      : [
          recommendPath(example.userId, ENTRIES),
          `/api/item/${encodeURIComponent(example.liked[0]!.itemId)}/neighbors?n=${ENTRIES}`,
        ];
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

/** What to do next: the line that starts the service, and requests with ids of the data. */
export function describeNext(file: string, config: Config, example: Example | undefined): string {
  const { url, requests, feedback } = requestsOf(config, example);
  const key = apiKeys(config.server).length > 0 ? ' -H "X-API-Key: $FURZE_SERVER_API_KEY"' : '';
  // In JSON an apostrophe can be written in another way, which ends no word of a shell.
  const body = JSON.stringify(feedback).replaceAll("'", String.raw`\u0027`);
  const post =
    feedback === undefined
      ? ''
      : `Tell it what a user does; what counts as positive is ${config.recommend.data_source.positive_feedback_types.join(', ')}:
  curl -X POST '${url}/api/feedback'${key} -d '${body}'
`;
  return `${example === undefined ? '' : describeExample(example)}
Start the service:
  ${commandName()} serve --config ${file}
Then try it${key === '' ? '' : `, with FURZE_SERVER_API_KEY set to the key in ${file}`}:
${requests.map((request) => `  curl '${request.replaceAll("'", '%27')}'${key}`).join('\n')}
${post}
Dashboard: ${url}/
`;
}

function describeExample({ userId, liked, recommended }: Example): string {
  const lines = (items: readonly Titled[]) =>
    items.map(({ itemId, title }) => `  ${inOneLine(`${itemId.padEnd(12)} ${title}`)}\n`).join('');
  const next =
    recommended.length > 0
      ? `recommended\n${lines(recommended)}`
      : 'recommended nothing: no other item is left.\n';
  return `
User ${inOneLine(userId)} has positive feedback on
${lines(liked)}and is ${next}`;
}

/** A text as a line of a list shows it: without line ends and signs that would steer a terminal, and not endless. */
function inOneLine(text: string): string {
  const line = text.replace(/[\n\r\t\p{C}]+/gu, ' ').trimEnd();
  return line.length <= SHOWN_CHARACTERS ? line : `${line.slice(0, SHOWN_CHARACTERS)}...`;
}
