/** Objects of JSON that hold a list of items, such as an order with its lines: each of the list is a row. */

import { mappingByNames } from './column-names.ts';

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
    const { ItemId, UserId } = mappingByNames(valuesAround(object).map(([name]) => name));
    if ('UserId' in object || ItemId !== undefined) return undefined;
    if (UserId === undefined) continue;
    for (const [key, list] of Object.entries(object))
      if (Array.isArray(list) && list.some((each) => isObject(each) && namesItem(each))) named.add(key);
  }
  return named.values().next().value;
}

function namesItem(object: JsonObject): boolean {
  return mappingByNames(Object.keys(object)).ItemId !== undefined;
}

/**
 * The rows of an object: its own values, those of objects in it as `customer.id`, and of each in the list as
 * `line_items[].sku`; none where the list is empty.
 */
export function rowsWithin(object: JsonObject, list: string): JsonObject[] {
  const { [list]: elements, ...own } = object;
  const around = valuesAround(own);
  return (Array.isArray(elements) ? elements : []).filter(isObject).map((each) => {
    const within = Object.entries(each).map(([name, value]) => [`${list}[].${name}`, value] as const);
    // In an order a bare name is first that of the item.
    return Object.fromEntries([...within, ...around]);
  });
}

function valuesAround(object: JsonObject): [name: string, value: unknown][] {
  return Object.entries(object).flatMap(([key, value]): [string, unknown][] =>
    isObject(value) ? Object.entries(value).map(([name, each]) => [`${key}.${name}`, each]) : [[key, value]],
  );
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
    if (isArray === undefined && given.trim() !== '') isArray = /^\s*\[\s*\{/.test(given);
    if (!isArray) return given;
    const piece = begun + given;
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
