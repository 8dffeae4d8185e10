import {
  ItemBodiesSchema,
  ItemBodySchema,
  ItemPatchSchema,
  ItemSchema,
  ItemsPageSchema,
} from '../../domain/api-schemas.ts';
import type { Item } from '../../domain/entities.ts';
import { noSuchItem } from '../../domain/furze-error.ts';
import { withGivenLabels } from '../../domain/labels.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import { json, jsonText, type Reply } from '../route/reply.ts';
import { type Route, type RouteRequest, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { ITEM } from './examples.ts';
import { write, written } from './write.ts';

const route = routesOf('Items');

export const itemRoutes: readonly Route[] = [
  route('POST', '/api/item', {
    summary: 'Insert an item, or overwrite the one with the same id',
    body: { schema: ItemBodySchema, example: ITEM },
    response: written,
    handler: ({ body }, { data }) => write(data, { kind: 'putItems', batch: { json: body, single: true } }),
  }),
  route('POST', '/api/items', {
    summary: 'Insert or overwrite items',
    description:
      'One transaction: one bad record and nothing is stored. Of a repeated id the last record wins.',
    body: { schema: ItemBodiesSchema, example: [ITEM] },
    response: written,
    errors: ['BATCH_TOO_LARGE'],
    handler: ({ body }, { data }) => write(data, { kind: 'putItems', batch: { json: body, single: false } }),
  }),
  route('GET', '/api/items', {
    summary: 'List items by id, a page at a time, or search them',
    description:
      'With `q` the answer is the best `n` matches, at most 1,000, on one page; a search that takes seconds ends with what it has.',
    query: ['n', 'cursor', 'q'],
    response: { description: 'A page', schema: ItemsPageSchema, example: { Cursor: '', Items: [ITEM] } },
    errors: ['INVALID_CURSOR'],
    async handler(request, services) {
      const { query } = request;
      const { data, limits } = services;
      if (query.text !== undefined) return search(query.text, request, services);
      return jsonPage('Items', pageWish(query, limits), async (n, cursor) => {
        const page = await data.getItems(n, cursor);
        return { cursor: page.cursor, rows: page.rows.map(withGivenLabels) };
      });
    },
  }),
  route('GET', '/api/item/{item-id}', {
    summary: 'Get an item',
    response: { description: 'The item', schema: ItemSchema, example: ITEM },
    errors: ['ITEM_NOT_FOUND'],
    handler({ params }, { data, entityTexts }) {
      const itemId = params['item-id'];
      const { local } = data;
      const kept = entityTexts.items.find(itemId);
      if (kept !== undefined) return jsonText(kept);
      const row = local.itemRow(itemId);
      const item = row < 0 ? undefined : local.itemAt(row);
      const text = itemText(itemId, item);
      // That of the path may be a part of the whole URL, which would be kept along with it.
      entityTexts.items.put(item!.ItemId, row, text);
      return jsonText(text);
    },
  }),
  route('PATCH', '/api/item/{item-id}', {
    summary: 'Change some fields of an item',
    description: 'Fields that are absent or null stay as they are; `Timestamp: ""` takes the timestamp away.',
    body: { schema: ItemPatchSchema, example: { IsHidden: true } },
    response: written,
    errors: ['ITEM_NOT_FOUND'],
    handler: ({ params, body }, { data }) =>
      write(data, { kind: 'patchItem', itemId: params['item-id'], json: body }),
  }),
  route('DELETE', '/api/item/{item-id}', {
    summary: "Delete an item and the item's feedback",
    response: { ...written, description: 'Rows removed, 0 when there was no such item' },
    handler: ({ params }, { data }) => write(data, { kind: 'deleteItem', itemId: params['item-id'] }),
  }),
  categoryRoute('PUT', 'addCategory', 'Add a category to an item'),
  categoryRoute('DELETE', 'removeCategory', 'Take a category from an item'),
];

/** One page of what a search finds, cut where it grows too large. */
async function search(
  text: string,
  request: RouteRequest<unknown>,
  { data, searchItems, limits }: Services,
): Promise<Reply> {
  const { n } = request.query;
  const found = n === 0 ? [] : await searchItems(text, n, request);
  const rows: Item[] = [];
  let length = 0;
  for (const itemId of found) {
    const item = await data.getItem(itemId);
    // It may be gone since it was found.
    if (item === undefined) continue;
    rows.push(item);
    length += item.Comment.length;
    if (length > limits.pageBytesMax) break;
  }
  return json({ Cursor: '', Items: rows.map(withGivenLabels) });
}

/** @throws FurzeError ITEM_NOT_FOUND */
function itemText(itemId: string, item: Item | undefined): string {
  if (item !== undefined) return JSON.stringify(withGivenLabels(item));
  throw noSuchItem(itemId);
}

function categoryRoute(
  method: 'PUT' | 'DELETE',
  kind: 'addCategory' | 'removeCategory',
  summary: string,
): Route {
  return route(method, '/api/item/{item-id}/category/{category}', {
    summary,
    response: written,
    errors: ['ITEM_NOT_FOUND'],
    handler: ({ params }, { data }) =>
      write(data, {
        kind,
        itemId: params['item-id'],
        category: params.category,
      }),
  });
}
