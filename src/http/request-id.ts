import { randomBytes } from 'node:crypto';

const SANE = /^[\w.:+/=@-]{1,128}$/;

/** Makes the source of request ids: the caller's own when it is sane, otherwise one that no other process gives. */
export function createRequestIds(): (sent: string) => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return (sent) => (sent !== '' && SANE.test(sent) ? sent : `${prefix}-${(++count).toString(36)}`);
}
