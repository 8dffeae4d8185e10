/** The mark that stands where people would see a secret. */
export const MASK = '********';
const NETWORK_SCHEME = /^(?!lmdb:)[a-z][a-z0-9+.-]*:\/\//i;
/** A URL with user information behind its scheme, to the last `@`: passwords hold any sign, though a URL may not. */
const URL_IN_ARGUMENT = /[a-z][a-z0-9+.-]*:\/\/.*$/is;

/**
 * True for the name of a store on a network with a `#`, or an `@` behind its host: one of `/?#` stands in the password as it is, and
 * what is behind it would be taken for a path and shown.
 */
export function hasSignsInPassword(dsn: string): boolean {
  return NETWORK_SCHEME.test(dsn) && /#|[/?].*@/s.test(dsn.replace(NETWORK_SCHEME, ''));
}

/**
 * A URL as messages and logs show it: without user name and password, which may stand before the host or in the query, and
 * without a fragment, which may be the rest of a password. Any other text is left as it is.
 */
export function withoutUserInfo(url: string): string {
  const [scheme] = NETWORK_SCHEME.exec(url) ?? [];
  if (scheme === undefined) return url;
  const rest = url.slice(scheme.length);
  const hasUser = rest.includes('@');
  // Without a host behind it, a name with a sign that ends a host may be a password as a whole.
  if (!hasUser && rest.includes('#') && !/[?&]password=/i.test(rest)) return scheme + MASK;
  const [place] = rest.slice(rest.lastIndexOf('@') + 1).split('#');
  return scheme + place!.replace(/([?&]password=)[^&]*/gi, `$1${MASK}`);
}

/** A message in which each URL of the arguments stands as `withoutUserInfo` shows it. */
export function hideUserInfo(message: string, args: readonly string[]): string {
  let shown = message;
  for (const arg of args) {
    const [url = ''] = URL_IN_ARGUMENT.exec(arg) ?? [];
    const plain = withoutUserInfo(url);
    if (plain === url) continue;
    for (const form of [url, JSON.stringify(url).slice(1, -1)]) shown = shown.replaceAll(form, () => plain);
  }
  return shown;
}
