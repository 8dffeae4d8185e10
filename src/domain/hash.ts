/** FNV-1a (Fowler, Noll, Vo), 32 bits: it tells things apart and catches accidents; it does not guard against forgery. */
export const FNV_BASIS = 0x811c9dc5;

/** The hash with one more value, of up to 32 bits, in it; made unsigned by `>>> 0` at the end. */
export function fnv(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193);
}

/** The same for whole words, of which the high bits would otherwise not reach the low ones. */
export function fnvWord(hash: number, word: number): number {
  const next = fnv(hash, word);
  return next ^ (next >>> 15);
}

/** Spreads each bit of a word over all (the finalizer of MurmurHash3, Appleby). */
export function spreadBits(word: number): number {
  let hash = word;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/**
 * MurmurHash3 (Appleby, x86, 32 bits) of a text, each UTF-16 unit a block: hashes by different seeds tell nothing of each other.
 * @returns an unsigned word
 */
export function seededHash(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    const block = Math.imul(text.charCodeAt(at), 0xcc9e2d51);
    hash ^= Math.imul((block << 15) | (block >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  return spreadBits(hash ^ (text.length * 4)) >>> 0;
}

/** Of a text by its UTF-16 units. */
export function hashText(text: string): number {
  let hash = FNV_BASIS;
  for (let at = 0; at < text.length; at++) hash = fnv(hash, text.charCodeAt(at));
  return hash >>> 0;
}
