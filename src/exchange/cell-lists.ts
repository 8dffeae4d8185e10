/** Cells that hold a list where one value is looked for, such as all articles of an order. */

/** The key of an item or a user within a list: short, and with a digit. */
const KEY = /^[\p{L}_#.-]{0,12}\d[\w.-]*$/u;
/** Signs between the keys of a list. */
const BETWEEN = /\s*[,;|]\s*|\s+/;
/** Several with their numbers, `2x Tea, 1x Cup`, or with names for what is told of each, `SKU: 1, Name: Tea | SKU: 2, Name: Cup`. */
const PACKED = /^\d+ ?[x×] .*[,;|] ?\d+ ?[x×] |(?:^|[,;|] ?)([^:,;|]{2,30}:).*[,;|] ?\1/iu;
/** Of the values of a column of lists at least this share has several; fewer may be chance. */
const LISTS_SHARE = 0.2;

/** How many keys a cell lists; 0 for any other text. */
function keysIn(cell: string): number {
  const isBracketed = /^\[.*\]$/s.test(cell);
  const parts = (isBracketed ? cell.slice(1, -1).replaceAll(/["']/g, '') : cell).split(BETWEEN);
  return isBracketed || parts.every((part) => KEY.test(part)) ? parts.length : 0;
}

/** True for texts of which many are several others with commas between, as titles of all that is on a bill: these come again and again. */
function areOfTitles(values: readonly string[]): boolean {
  const cells = values.map((value) => value.split(/\s*[,;|]\s*/));
  const several = cells.filter(({ length }) => length > 1).length;
  const isVaried = new Set(cells.map(({ length }) => length)).size > 2;
  const areFew = new Set(cells.flat()).size * 2 < new Set(values).size;
  return isVaried && areFew && several >= LISTS_SHARE * values.length;
}

/** True for the values of a column of which many hold several keys, in one more than in another, or are packed otherwise. */
export function holdLists(values: readonly string[]): boolean {
  const counts = values.map(keysIn);
  const areSeveral = counts.filter((count, at) => count > 1 || PACKED.test(values[at]!)).length;
  const isVaried =
    new Set(counts).size > 1 || values.some((value) => PACKED.test(value) || value.startsWith('['));
  const areKeys = isVaried && areSeveral > 0 && areSeveral >= LISTS_SHARE * values.length;
  return areKeys || areOfTitles(values);
}
