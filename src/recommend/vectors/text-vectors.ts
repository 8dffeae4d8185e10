import { FNV_BASIS, fnv, spreadBits } from '../../domain/hash.ts';

export interface ItemText {
  readonly Comment: string;
  readonly Labels: readonly string[];
  readonly Categories: readonly string[];
}

const CHARACTERS_MAX = 4096;
/** Pieces of words, which tell words of one stem. */
const PIECE_CHARACTERS = 4;
/** Weight of a piece beside a whole word. */
const PIECE_WEIGHT = 0.3;
/** Tokens that have a count of their own, or one with others: a power of two. */
const COUNTED_TOKENS = 2 ** 18;
/** The parameters of BM25: how soon repeats stop to count, and how much long texts are held back. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Tells pieces from words of the same characters. */
const PIECE_SEED = 0x85ebca6b;
/** With marks: they are the vowels of Hindi and Thai, and the accents of letters that are not composed. */
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

/**
 * Vectors of texts: words and pieces of words, weighed by BM25 (Robertson and Zaragoza 2009) and thrown onto a few dimensions by
 * signs that their hashes tell (random projection: Achlioptas 2003), so that texts with rare words in common are near each
 * other. Nothing is learned but in how many texts each token stands.
 */
export class TextVectors {
  private readonly dimensions: number;
  private readonly counts = new Uint32Array(COUNTED_TOKENS);
  private texts = 0;
  private tokens = 0;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  get size(): number {
    return this.texts;
  }

  /** Counts the tokens of a text, of each the first. */
  count(text: ItemText): void {
    const found = tokensOf(text);
    if (found.size === 0) return;
    this.texts++;
    for (const [token, times] of found) {
      this.counts[token & (COUNTED_TOKENS - 1)]!++;
      this.tokens += times;
    }
  }

  forget(): void {
    this.counts.fill(0);
    this.texts = 0;
    this.tokens = 0;
  }

  /** The vector of a text by what is counted; undefined for one without words. */
  vectorOf(text: ItemText): Float32Array | undefined {
    const found = tokensOf(text);
    if (found.size === 0) return undefined;
    let length = 0;
    for (const times of found.values()) length += times;
    const mean = this.texts === 0 ? length : this.tokens / this.texts;
    const held = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / mean);
    const vector = new Float32Array(this.dimensions);
    for (const [token, times] of found) {
      const count = this.counts[token & (COUNTED_TOKENS - 1)]!;
      const rarity = Math.log1p((this.texts - count + 0.5) / (count + 0.5));
      addSigns(vector, token, (Math.max(0, rarity) * times * (SATURATION + 1)) / (times + held));
    }
    return vector.some((number) => number !== 0) ? vector : undefined;
  }
}

/** The hashes of the words and pieces of a text, with how often each counts. */
function tokensOf({ Comment, Labels, Categories }: ItemText): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const add = (token: number, times: number) => found.set(token, (found.get(token) ?? 0) + times);
  for (const text of [Comment.slice(0, CHARACTERS_MAX), ...Labels, ...Categories]) {
    for (const word of text.normalize().toLowerCase().match(WORDS) ?? []) {
      add(hashOf(word, 0, word.length, FNV_BASIS), 1);
      const padded = ` ${word} `;
      for (let at = 0; at + PIECE_CHARACTERS <= padded.length; at++)
        add(hashOf(padded, at, at + PIECE_CHARACTERS, PIECE_SEED), PIECE_WEIGHT);
    }
  }
  return found;
}

function hashOf(text: string, from: number, to: number, seed: number): number {
  let hash = seed;
  for (let at = from; at < to; at++) hash = fnv(hash, text.charCodeAt(at));
  return spreadBits(hash);
}

/** Adds a weight to each dimension, or takes it away, by bits that the token tells. */
function addSigns(vector: Float32Array, token: number, weight: number): void {
  for (let first = 0; first < vector.length; first += 32) {
    const bits = spreadBits(token ^ Math.imul(first + 1, 0x9e3779b1));
    const end = Math.min(vector.length, first + 32);
    for (let at = first; at < end; at++)
      vector[at]! += ((bits >>> (at - first)) & 1) === 0 ? weight : -weight;
  }
}
