/** A trained matrix factorisation as data, and its self-describing form as bytes. */
import { FurzeError } from '../domain/errors.ts';
import { paddedFactors } from '../kernel/scratch.ts';

/** "FRZF", little-endian. */
const MAGIC = 0x465a5246;
const VERSION = 1;
/** Magic, version, bytes of the description, checksum of the factors. */
const PREFIX_BYTES = 16;

/** What a model says of itself beside its factors. */
export interface MatrixFactorizationHeader {
  /** Length of a vector before padding. */
  readonly factors: number;
  readonly userCount: number;
  readonly itemCount: number;
  /** With these a user is folded in as it was trained; see `AlsSettings`. */
  readonly regularization: number;
  readonly unobservedWeight: number;
  readonly regularizationExponent: number;
  readonly seed: number;
  /** Hash of the training data, see `fingerprint`. */
  readonly fingerprint: number;
  /** Measures on held-out data by name, such as `NDCG@10`; empty when none were taken. */
  readonly quality: Readonly<Record<string, number>>;
}

/** Factors are row-major with `paddedFactors(factors)` numbers a row, the columns added being zero. */
export interface MatrixFactorization extends MatrixFactorizationHeader {
  readonly userFactors: Float32Array;
  readonly itemFactors: Float32Array;
}

/** @throws FurzeError INTERNAL when a factor is NaN or infinite */
export function assertFinite(model: MatrixFactorization): void {
  for (const factors of [model.userFactors, model.itemFactors]) {
    for (let at = 0; at < factors.length; at++) {
      if (!Number.isFinite(factors[at])) {
        throw new FurzeError('INTERNAL', 'the matrix factorisation holds factors that are not finite');
      }
    }
  }
}

/** The model as bytes: a prefix, a description in JSON padded to 4 bytes, user factors, item factors. */
export function encodeModel(model: MatrixFactorization): Uint8Array {
  const { userFactors, itemFactors, ...header } = model;
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(json.length / 4) * 4;
  const start = PREFIX_BYTES + headerBytes;
  const bytes = new Uint8Array(start + (userFactors.length + itemFactors.length) * 4);
  const floats = new Float32Array(bytes.buffer, start);
  floats.set(userFactors);
  floats.set(itemFactors, userFactors.length);
  new Uint32Array(bytes.buffer, 0, 4).set([MAGIC, VERSION, headerBytes, checksum(bytes, start)]);
  bytes.fill(0x20, PREFIX_BYTES, start).set(json, PREFIX_BYTES);
  return bytes;
}

/**
 * Reads what `encodeModel` wrote.
 * @throws FurzeError INTERNAL when the bytes are no model, of another version, cut short or damaged
 */
export function decodeModel(bytes: Uint8Array): MatrixFactorization {
  // A copy, because views of 4-byte numbers need an aligned start.
  const copy = bytes.slice();
  if (copy.length < PREFIX_BYTES) refuse('it is too short');
  const [magic, version, headerBytes, sum] = new Uint32Array(copy.buffer, 0, 4) as unknown as [
    number,
    number,
    number,
    number,
  ];
  if (magic !== MAGIC) refuse('it does not begin as one');
  if (version !== VERSION) refuse(`its version is ${version}, this program reads ${VERSION}`);
  const start = PREFIX_BYTES + headerBytes;
  if (headerBytes % 4 !== 0 || start > copy.length) refuse('its description is cut short');
  if (checksum(copy, start) !== sum) refuse('its checksum differs');
  const header = readHeader(copy.subarray(PREFIX_BYTES, start));
  const f = paddedFactors(header.factors);
  const users = header.userCount * f;
  const items = header.itemCount * f;
  if (copy.length !== start + (users + items) * 4) refuse('its size does not fit its shape');
  return {
    ...header,
    userFactors: new Float32Array(copy.buffer, start, users),
    itemFactors: new Float32Array(copy.buffer, start + users * 4, items),
  };
}

function readHeader(json: Uint8Array): MatrixFactorizationHeader {
  let header: MatrixFactorizationHeader;
  try {
    header = JSON.parse(new TextDecoder().decode(json)) as MatrixFactorizationHeader;
  } catch {
    return refuse('its description cannot be read');
  }
  const numbers = [header.factors, header.userCount, header.itemCount, header.seed, header.fingerprint];
  const reals = [header.regularization, header.unobservedWeight, header.regularizationExponent];
  const sound = numbers.every(Number.isInteger) && reals.every(Number.isFinite) && header.factors >= 1;
  if (!sound || typeof header.quality !== 'object') refuse('its description is incomplete');
  return header;
}

function refuse(reason: string): never {
  throw new FurzeError('INTERNAL', `not a usable matrix factorisation: ${reason}`);
}

/** FNV-1a over the 32-bit words from `start` to the end. */
function checksum(bytes: Uint8Array, start: number): number {
  let hash = 0x811c9dc5;
  for (const word of new Uint32Array(bytes.buffer, start, Math.floor((bytes.length - start) / 4))) {
    hash = Math.imul(hash ^ word, 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
