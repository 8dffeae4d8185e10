/** The names of environment variables: those of configuration keys, and those that Kubernetes sets by itself. */

export type Environment = Readonly<Record<string, string | undefined>>;

export const VARIABLE_PREFIX = 'FURZE_';

/** The variable that overrides the key at a path of sections and name: `FURZE_SERVER_PORT` for `['server', 'port']`. */
export function variableOf(path: readonly string[]): string {
  return VARIABLE_PREFIX + path.join('_').toUpperCase();
}

/**
 * Variables that Kubernetes sets in every pod for each service of its namespace (Kubernetes documentation, "Service",
 * "Environment variables"): for one named `furze` on port 8087 `FURZE_SERVICE_HOST`, `FURZE_SERVICE_PORT`,
 * `FURZE_SERVICE_PORT_HTTP`, `FURZE_PORT_8087_TCP`, `..._PROTO`, `..._PORT`, `..._ADDR`; for one named `furze-x` the
 * same with `FURZE_X_`.
 */
const INJECTED =
  /^FURZE_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** `FURZE_PORT` and the like hold a URL; for a service named `furze-server` that is the name of a key of ours. */
const INJECTED_PORT = /^FURZE_(?:\w+_)?PORT$/;
const INJECTED_URL = /^(?:tcp|udp|sctp):\/\//;

/** The environment without what Kubernetes has put there. */
export function withoutInjected(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isInjected(name, value ?? '')));
}

function isInjected(name: string, value: string): boolean {
  if (!name.startsWith(VARIABLE_PREFIX)) return false;
  return INJECTED.test(name) || (INJECTED_PORT.test(name) && INJECTED_URL.test(value));
}
