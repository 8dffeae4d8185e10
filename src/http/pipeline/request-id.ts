import { randomBytes } from 'node:crypto';

const SANE = /^[\w.:+/=@-]{1,128}$/;

/** Base of the digits that an id counts with. */
const RADIX = 36;
/** The last two digits of an id, ready made: only every 1296th id writes a number out. */
const ENDINGS = Array.from({ length: RADIX * RADIX }, (_, at) => at.toString(RADIX).padStart(2, '0'));

/** Makes the source of request ids: the caller's own when it is sane, otherwise one that no other process gives. */
export function createRequestIds(): (sent: string) => string {
  const prefix = randomBytes(6).toString('hex');
  let round = 0;
  let head = `${prefix}-0`;
  let at = 0;
  return (sent) => {
    if (sent !== '' && SANE.test(sent)) return sent;
    if (at === ENDINGS.length) {
      at = 0;
      head = `${prefix}-${(++round).toString(RADIX)}`;
    }
    return head + ENDINGS[at++]!;
  };
}
