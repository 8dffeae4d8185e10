import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../domain/sha256.ts';

/** Characters of a signature, six bits each: a guess is right once in 2^96. */
const SIGNATURE_LENGTH = 16;
const RADIX = 36;

/** What a token tells of a list. */
export interface ListClaims {
  readonly placement: string;
  /** Variant of an experiment; `''` for none. */
  readonly variant: string;
  /** Generation that served; 0 for none. */
  readonly generation: number;
  /** Time of the answer, milliseconds since the epoch. */
  readonly timeMs: number;
  /** The edition of the experiment; absent for none. */
  readonly edition?: string;
  /** The way in which the entries of the list were chosen, in letters, digits, `-` and `_`; absent where only its ranking chose them. */
  readonly plan?: string;
}

/**
 * Signs what a list was, for one user, so that whoever was given it can tell later and nothing has to be kept until then. A
 * token is `PLACEMENT.VARIANT.GENERATION.TIME.SIGNATURE`, with `.EDITION` or `.EDITION.PLAN` after the time where a list has them; the
 * user is signed and does not stand in it. The signature is the
 * SHA-256 of key and text, cut to 96 bits: whoever does not have the other 160 cannot go on from it, so it needs no HMAC, which takes
 * several times as long.
 */
export class RecommendationTokens {
  private readonly key: string;

  /** @param storeIdentity secret of the data, the same on all nodes that share them */
  constructor(storeIdentity: string) {
    const key = hkdfSync('sha256', storeIdentity, '', 'furze recommendation tokens', 48);
    this.key = Buffer.from(key).toString('base64url');
  }

  issue(
    { placement, variant, generation, timeMs, edition = '', plan = '' }: ListClaims,
    userId: string,
  ): string {
    const tail = plan !== '' ? `.${edition}.${plan}` : edition !== '' ? `.${edition}` : '';
    const claims = `${placement}.${variant}.${generation.toString(RADIX)}.${timeMs.toString(RADIX)}${tail}`;
    return `${claims}.${this.signatureOf(claims, userId)}`;
  }

  /** Undefined for a token that was not issued for the user, or not with this key. */
  read(token: string, userId: string): ListClaims | undefined {
    const end = token.lastIndexOf('.');
    const claims = token.slice(0, Math.max(0, end));
    // As texts: bytes have several in base64.
    const given = Buffer.from(token.slice(end + 1));
    const own = Buffer.from(this.signatureOf(claims, userId));
    if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
    const [placement = '', variant = '', generation = '', time = '', edition = '', plan = ''] =
      claims.split('.');
    return {
      placement,
      variant,
      generation: Number.parseInt(generation, RADIX),
      timeMs: Number.parseInt(time, RADIX),
      ...(edition !== '' && { edition }),
      ...(plan !== '' && { plan }),
    };
  }

  /** No name of a placement or variant has a dot or a line break, so a signed text is of one list and one user. */
  private signatureOf(claims: string, userId: string): string {
    return sha256(`${this.key}${claims}\n${userId}`, 'base64url').slice(0, SIGNATURE_LENGTH);
  }
}
