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

/** What stands before a list of objects in an object that is the whole text, as APIs answer: plain values, and the key of the list. */
const BEFORE_LIST =
  /^\s*\{(?:\s*"[^"]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^\s"{}[\],]+)\s*,)*\s*"[^"]*"\s*:\s*(?=\[\s*\{)/;
/** Text by which that is told where no line ends before. */
const TOLD_BY = 64 * 1024;

/** The list within, where the whole text is an object around one; undefined while that is not told. */
function withinObject(text: string, isLast: boolean): string | undefined {
  const [line = '', ...more] = text.trimStart().split('\n');
  const [before] = BEFORE_LIST.exec(text) ?? [];
  const isLine = parseObject(line) !== undefined;
  if (isLine && (before === undefined || more.some((each) => each.trim() !== ''))) return text;
  if (!isLast && text.length < TOLD_BY) return undefined;
  if (before === undefined) return text;
  // An order has its user beside its lines.
  const own = Object.keys(parseObject(`${before}0}`) ?? {});
  return mappingByNames(own).UserId === undefined ? text.slice(before.length) : text;
}

/**
 * The objects of one JSON array, or of the list that an object is all around, as lines, piece by piece: a comma between two of them
 * becomes the end of a line, and no other line ends stay. A text that is no such array stays as it is.
 */
export function linesOfArray(): (piece: string, isLast?: boolean) => string {
  let isArray: boolean | undefined;
  let isText = false;
  let depth = 0;
  let isOver = false;
  let around = 0;
  let begun = '';
  return (given, isLast = false) => {
    let piece = begun + given;
    begun = '';
    if (isArray === undefined) {
      if (piece.trim() === '') return piece;
      const told = /^\s*\{/.test(piece) ? withinObject(piece, isLast) : piece;
      // The first object may come with the next piece.
      if (told === undefined || /^\s*\[\s*$/.test(told)) {
        begun = piece;
        return '';
      }
      if (told.length < piece.length) around = 1;
      piece = told;
      isArray = /^\s*\[\s*\{/.test(piece);
    }
    if (!isArray) return piece;
    // A sign behind a backslash may come with the next piece.
    begun = /(?<!\\)(?:\\\\)*\\$/.test(piece) ? '\\' : '';
    return piece
      .slice(0, piece.length - begun.length)
      .replace(/\\.|["[\]{},\r\n]|[^\\"[\]{},\r\n]+/gs, (sign) => {
        if (sign === '"') isText = !isText;
        // Behind the list and what is around it nothing is read, and what looks like more of it is refused.
        if (isOver && !isText && /^[[{]$/.test(sign)) return around++ === 0 ? `\n${sign}` : '';
        if (isOver && !isText && /^[\]}]$/.test(sign)) around--;
        if (isOver) return '';
        if (sign.length > 1) return sign;
        if (isText || sign === '"') return sign;
        if (sign === ',') return depth === 1 ? '\n' : sign;
        if (/\s/.test(sign)) return ' ';
        if (/[[{]/.test(sign)) return depth++ === 0 ? '' : sign;
        if (!/[\]}]/.test(sign)) return sign;
        isOver = --depth === 0;
        return isOver ? '' : sign;
      });
  };
}
