import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../domain/sha256.ts';
import type { ListName } from '../../store/shown-log.ts';

/** Characters of a signature, six bits each: a guess is right once in 2^96. */
const SIGNATURE_LENGTH = 16;
const RADIX = 36;

/**
 * Signs what a list was, for one user, so that whoever was given it can tell later and nothing has to be kept until then. A
 * token is `PLACEMENT.VARIANT.GENERATION.TIME.SIGNATURE`, with as much of `.EDITION.PLAN.MILLISECONDS` after the time as a list has; the
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

  issue(name: ListName, userId: string): string {
    const claims = claimsOf(name);
    return `${claims}.${this.signatureOf(claims, userId)}`;
  }

  /** Undefined for a token that was not issued for the user, or not with this key. */
  read(token: string, userId: string): ListName | undefined {
    const end = token.lastIndexOf('.');
    const claims = token.slice(0, Math.max(0, end));
    // What stands behind a line break would be taken for a part of the user's id.
    if (claims.includes('\n')) return undefined;
    // As texts: bytes have several in base64.
    const given = Buffer.from(token.slice(end + 1));
    const own = Buffer.from(this.signatureOf(claims, userId));
    if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
    const [placement = '', variant = '', generation = '', time = '', edition = '', plan = '', took] =
      claims.split('.');
    return {
      placement,
      variant,
      generation: Number.parseInt(generation, RADIX),
      timeMs: Number.parseInt(time, RADIX),
      ...(edition !== '' && { edition }),
      ...(plan !== '' && { plan }),
      ...(took !== undefined && { tookMs: Number.parseInt(took, RADIX) }),
    };
  }

  /** No name of a placement or variant has a dot or a line break, so a signed text is of one list and one user. */
  private signatureOf(claims: string, userId: string): string {
    return sha256(`${this.key}${claims}\n${userId}`, 'base64url').slice(0, SIGNATURE_LENGTH);
  }
}

function claimsOf({ placement, variant, generation, timeMs, edition, plan, tookMs }: ListName): string {
  const told = [generation.toString(RADIX), timeMs.toString(RADIX), edition, plan, tookMs?.toString(RADIX)];
  while (!told.at(-1)) told.pop();
  return [placement, variant, ...told].join('.');
}
