/** What stands where people see a secret or a password. */
export const MASK = '********';
/** Names of clusters have several hosts, which no URL has. */
const SEVERAL_HOSTS = /^(rediss?\+cluster:\/\/)(?:([^:@/]*)(?::[^@/]*)?@)?([^@]*)$/;
const NETWORK_SCHEME = /^[a-z0-9+.-]+:\/\//i;

/** A store's name without its password, for logs and for people. */
export function maskDsn(dsn: string): string {
  if (!NETWORK_SCHEME.test(dsn) || dsn.startsWith('lmdb://')) return dsn;
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
