/** What stands where people see a secret or a password. */
export const MASK = '********';
/** Names of clusters have several hosts, which no URL has. */
const SEVERAL_HOSTS = /^(rediss?\+cluster:\/\/)(?:([^:@/]*)(?::[^@/]*)?@)?([^@]*)$/;
const NETWORK_SCHEME = /^[a-z0-9+.-]+:\/\//i;

/**
 * True for the name of a store on a network with a `#`, or an `@` behind its host: one of `/?#` stands in the password as it is, and
 * what is behind it would be taken for a path and shown.
 */
export function hasSignsInPassword(dsn: string): boolean {
  return (
    NETWORK_SCHEME.test(dsn) &&
    !dsn.startsWith('lmdb://') &&
    /#|[/?].*@/s.test(dsn.replace(NETWORK_SCHEME, ''))
  );
}

/** A store's name without its password, for logs and for people. */
export function maskDsn(dsn: string): string {
  if (!NETWORK_SCHEME.test(dsn) || dsn.startsWith('lmdb://')) return dsn;
  if (hasSignsInPassword(dsn)) return maskBeforeHost(dsn);
  const cluster = SEVERAL_HOSTS.exec(dsn);
  if (cluster !== null) {
    const [, scheme, user, rest] = cluster;
    return user === undefined ? dsn : `${scheme}${user}:${MASK}@${rest}`;
  }
  try {
    const url = new URL(dsn);
    if (url.password !== '') url.password = MASK;
    if (url.searchParams.has('password')) url.searchParams.set('password', MASK);
    return url.href;
  } catch {
    return dsn.replace(/:\/\/.*$/s, `://${MASK}`);
  }
}

/** All of it where no host can be told from a password. */
function maskBeforeHost(dsn: string): string {
  const [scheme] = NETWORK_SCHEME.exec(dsn)!;
  const at = dsn.lastIndexOf('@');
  const host = at < 0 ? '' : /^[^/?#]*/.exec(dsn.slice(at + 1))![0];
  return host === '' ? `${scheme}${MASK}` : `${scheme}${MASK}@${host}`;
}
