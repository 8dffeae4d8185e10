/** A number in a file that would be another one once it is stored. */
export class LostNumber {
  readonly literal: string;

  constructor(literal: string) {
    this.literal = literal;
  }
}

const DIGITS = /^[-+]?\d+$/;

/**
 * True for the text of a number that a store gives back: it is in the range of 64-bit floating point (IEEE 754), is 0 only
 * where all its digits are, and a whole number has no digit too many. Other numbers are rounded to the nearest, as ever.
 */
export function isKept(literal: string): boolean {
  const number = Number(literal);
  if (!Number.isFinite(number)) return false;
  if (number === 0) return !/[1-9]/.test(literal.split(/e/i, 1)[0]!);
  if (Number.isSafeInteger(number) || !DIGITS.test(literal)) return true;
  const plain = literal.replace('+', '');
  return BigInt(number) === BigInt(plain) || String(number) === plain;
}

/** Where a number is that may be lost, outside of the common case: an exponent, or more digits than are exact. */
const SUSPECT = /\d[eE]|\d{16}/;
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/**
 * The first lost number under each key of an object, and under those of objects and lists within: `ids.trakt`, `lines[].id`.
 * @param text the object as JSON
 * @returns undefined where nothing is lost
 */
export function lostNumbers(text: string): Map<string, LostNumber> | undefined {
  if (!SUSPECT.test(text)) return undefined;
  const lost = new Map<string, LostNumber>();
  const path: string[] = [];
  let depth = 0;
  let last = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') path.length = Math.min(path.length, --depth);
    else if (token === ':') path[depth - 1] = JSON.parse(last) as string;
    else if (/^[-\d]/.test(token) && !isKept(token))
      for (const name of path.map((_, at) => nameOf(path.slice(0, at + 1))))
        if (!lost.has(name)) lost.set(name, new LostNumber(token));
    if (token === '[') path[depth - 1] = '[]';
    last = token;
  }
  return lost.size === 0 ? undefined : lost;
}

function nameOf(path: readonly string[]): string {
  return path.join('.').replaceAll('.[]', '[]');
}
