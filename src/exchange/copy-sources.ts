import type { Page } from '../domain/entities.ts';
import { groupDigits } from '../domain/group-digits.ts';
import { withGivenLabels } from '../domain/labels.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { VectorSpace } from '../domain/vector-space.ts';
import type { DataReader, LocalReads } from '../store/data-store.ts';
import { detailsOf, eventsOfDetails, type FeedbackDetails } from '../store/feedback-details.ts';
import { vectorPage } from '../store/vector-pages.ts';
import type { Kind } from './guess-columns.ts';
import type { ServiceClient } from './service-client.ts';

/** A record as the API writes it. */
export type ApiRecord = object;

/** Gives all records of a kind, page by page, from behind the page with a cursor on, or from the first. */
export type Source = (kind: Kind, cursor?: string) => AsyncIterable<Page<ApiRecord>>;

const PAGE_RECORDS = 1000;

/**
 * Reads a data folder, also while a service runs on it. A walk over all feedback ends with an OperatorError where there was
 * less or more than the store counts, though nobody wrote any: a damaged page need not be one that cannot be read.
 * @param toDetails gives feedback with how often and when it happened
 */
export function storeSource(reader: DataReader, toDetails = false): Source {
  return (kind, from) => {
    const all = pages(from, async (cursor) => {
      if (kind === 'feedback') {
        const page = await reader.getFeedbackPage(PAGE_RECORDS, cursor);
        return toDetails ? { ...page, rows: page.rows.map((row) => detailsOf(row, reader.local)) } : page;
      }
      const page = await (kind === 'users'
        ? reader.getUsers(PAGE_RECORDS, cursor)
        : reader.getItems(PAGE_RECORDS, cursor));
      return { cursor: page.cursor, rows: page.rows.map(withGivenLabels) };
    });
    return kind === 'feedback' && from === undefined ? whole(reader, all) : all;
  };
}

/** Gives all vectors of a space in a data folder, page by page. */
export function storeVectors(
  reads: LocalReads,
  name: string,
  space: VectorSpace,
): () => AsyncIterable<Page<ApiRecord>> {
  return () => pages(undefined, (cursor) => vectorPage(reads, name, space, PAGE_RECORDS, cursor));
}

/** The same of a running server. */
export function httpVectors(client: ServiceClient, name: string): () => AsyncIterable<Page<ApiRecord>> {
  const path = `/api/vectors/${encodeURIComponent(name)}?n=${PAGE_RECORDS}&cursor=`;
  return () =>
    pages(undefined, async (cursor) => {
      const body = (await (await client.ask('GET', path + encodeURIComponent(cursor))).json()) as {
        readonly Cursor: string;
        readonly Vectors: ApiRecord[];
      };
      return { cursor: body.Cursor, rows: body.Vectors };
    });
}

async function* whole(
  reader: DataReader,
  all: AsyncIterable<Page<ApiRecord>>,
): AsyncGenerator<Page<ApiRecord>> {
  const before = feedbackCommit(reader);
  let read = 0;
  for await (const page of all) {
    read += page.rows.length;
    yield page;
  }
  const { feedback } = await reader.getStats();
  if (before === undefined || before !== feedbackCommit(reader) || read === feedback) return;
  throw new OperatorError(
    `The data store counts ${groupDigits(feedback)} feedback and ${groupDigits(read)} could be read: its file is damaged. ` +
      'Restore a backup into an empty folder ("furze restore"); "furze check" says more.',
  );
}

/** Undefined where it cannot be told, as while a deletion goes on. */
function feedbackCommit({ local }: DataReader): number | undefined {
  local.refresh();
  return local.feedbackPosition?.commit;
}

/** Reads what gives pages by itself. */
export function tableSource(page: (kind: Kind, cursor: string) => Promise<Page<ApiRecord>>): Source {
  return (kind, from) => pages(from, (cursor) => page(kind, cursor));
}

/**
 * Gives a record for each event of feedback that happened several times, and behind all others of a user and item those that say
 * no more than that it was seen: an import puts positive feedback in the place of such that stands before it.
 * @param source gives feedback with details
 * @param seenTypes see `seenTypes`
 */
export function eventSource(source: Source, seenTypes: ReadonlySet<string>): Source {
  return async function* (kind, cursor) {
    if (kind !== 'feedback') return yield* source(kind, cursor);
    const held: FeedbackDetails[] = [];
    for await (const page of source(kind, cursor)) {
      const rows: FeedbackDetails[] = [];
      for (const row of page.rows as readonly FeedbackDetails[]) {
        if (held[0]?.UserId !== row.UserId || held[0].ItemId !== row.ItemId) rows.push(...held.splice(0));
        (seenTypes.has(row.FeedbackType) ? held : rows).push(row);
      }
      if (page.cursor === '') rows.push(...held);
      yield { ...page, rows: rows.flatMap(eventsOfDetails) };
    }
  };
}

/** Asks a running server; feedback comes with details. */
export function httpSource(client: ServiceClient): Source {
  const names = { users: 'Users', items: 'Items', feedback: 'Feedback' } as const;
  return (kind, from) =>
    pages(from, async (cursor) => {
      const query = `n=${PAGE_RECORDS}&cursor=${encodeURIComponent(cursor)}`;
      const details = kind === 'feedback' ? '&details=true' : '';
      const response = await client.ask('GET', `/api/${kind}?${query}${details}`);
      const body = (await response.json()) as Record<string, unknown>;
      return { cursor: body.Cursor as string, rows: body[names[kind]] as ApiRecord[] };
    });
}

/**
 * The next page is asked for while one is worked on.
 * @throws OperatorError when a page leads to one that came before, as where damage has put keys out of their order
 */
async function* pages(
  from: string | undefined,
  ask: (cursor: string) => Promise<Page<ApiRecord>>,
): AsyncGenerator<Page<ApiRecord>> {
  let next: Promise<Page<ApiRecord>> | undefined = ask(from ?? '');
  const cursors = new Set<string>();
  while (next !== undefined) {
    const page: Page<ApiRecord> = await next;
    if (cursors.has(page.cursor))
      throw new OperatorError(
        'Reading comes back to where it was, for ever: the file of the data store is damaged. Restore a backup into an empty ' +
          'folder ("furze restore"); "furze check" says more.',
      );
    cursors.add(page.cursor);
    next = page.cursor === '' ? undefined : ask(page.cursor);
    // Nobody waits for it where the work on this one fails.
    next?.catch(() => {});
    yield page;
  }
}
