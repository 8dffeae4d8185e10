/** What stands where people see a secret or a password. */
export const MASK = '********';
const NETWORK_SCHEME = /^[a-z0-9+.-]+:\/\//i;

/** A store's name without its password, for logs and for people. */
export function maskDsn(dsn: string): string {
  if (!NETWORK_SCHEME.test(dsn) || dsn.startsWith('lmdb://')) return dsn;
  try {
    const url = new URL(dsn);
    if (url.password !== '') url.password = MASK;
    if (url.searchParams.has('password')) url.searchParams.set('password', MASK);
    return url.href;
  } catch {
    return dsn.replace(/:\/\/.*$/s, `://${MASK}`);
  }
}
