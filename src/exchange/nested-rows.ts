/** Objects of JSON that hold a list of items, such as an order with its lines: each of the list is a row. */

import { COLUMN_NAMES, mappingByNames, plainName } from './column-names.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The object that a text is in JSON, or undefined. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The key of the list whose objects name an item, where the objects of these lines, no records of the API, name a user alone. */
export function listOfItems(text: string): string | undefined {
  const named = new Set<string>();
  for (const line of text.split('\n')) {
    const object = parseObject(line) ?? {};
    const { ItemId, UserId } = mappingByNames(Object.keys(flatten(object)));
    if ('UserId' in object || ItemId !== undefined) return undefined;
    if (UserId === undefined) continue;
    for (const [key, list] of Object.entries(object))
      if (Array.isArray(list) && list.some((each) => isObject(each) && namesItem(each))) named.add(key);
  }
  return named.values().next().value;
}

function namesItem(object: JsonObject): boolean {
  return mappingByNames(Object.keys(flatten(object))).ItemId !== undefined;
}

/**
 * The rows of an object: its own values, those of objects in it as `customer.id`, and of each in the list as
 * `line_items[].sku`; none where the list is empty, and without a list one.
 */
export function rowsWithin(object: JsonObject, list?: string): JsonObject[] {
  if (list === undefined) return [flatten(object)];
  const { [list]: elements, ...own } = object;
  const around = flatten(own);
  return (Array.isArray(elements) ? elements : []).filter(isObject).map((each) => {
    // In an order a bare name is first that of the item.
    return { ...flatten(each, `${list}[].`), ...around };
  });
}

/** Objects further within stay as they are. */
const DEPTH_MAX = 4;

/** The values of an object and of those in it, which are named with dots: `movie.ids.imdb`. */
function flatten(object: JsonObject, before = ''): JsonObject {
  return Object.fromEntries(valuesWithin(object, before, 1));
}

/** Labels may be an object as they are. */
function* valuesWithin(object: JsonObject, before: string, depth: number): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(object))
    if (isObject(value) && depth < DEPTH_MAX && !COLUMN_NAMES.Labels!.includes(plainName(key)))
      yield* valuesWithin(value, `${before}${key}.`, depth + 1);
    else yield [before + key, value];
}

/**
 * The objects of one JSON array as lines, piece by piece: a comma between two of them becomes the end of a line, and no other line
 * ends stay. A text that is no such array stays as it is.
 */
export function linesOfArray(): (piece: string) => string {
  let isArray: boolean | undefined;
  let isText = false;
  let depth = 0;
  let begun = '';
  return (given) => {
    const piece = begun + given;
    begun = '';
    if (isArray === undefined) {
      if (piece.trim() === '') return piece;
      // The first object may come with the next piece.
      if (/^\s*\[\s*$/.test(piece)) {
        begun = piece;
        return '';
      }
      isArray = /^\s*\[\s*\{/.test(piece);
    }
    if (!isArray) return piece;
    // A sign behind a backslash may come with the next piece.
    begun = /(?<!\\)(?:\\\\)*\\$/.test(piece) ? '\\' : '';
    return piece.slice(0, piece.length - begun.length).replace(/\\.|["[\]{},\r\n]/gs, (sign) => {
      if (sign === '"') isText = !isText;
      if (isText || sign === '"') return sign;
      if (sign === ',') return depth === 1 ? '\n' : sign;
      if (/\s/.test(sign)) return ' ';
      if (/[[{]/.test(sign)) return depth++ === 0 ? '' : sign;
      return --depth === 0 ? '' : sign;
    });
  };
}
