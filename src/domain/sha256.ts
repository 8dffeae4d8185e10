import crypto from 'node:crypto';

/** The SHA-256 of a text; newer versions of Node.js make it several times as fast. */
export function sha256(text: string, encoding: 'hex' | 'base64url'): string {
  return crypto.hash?.('sha256', text, encoding) ?? crypto.createHash('sha256').update(text).digest(encoding);
}
