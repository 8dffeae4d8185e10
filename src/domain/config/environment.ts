/** Environment variables that override keys of the configuration file, and the warning about those that name no key. */
import { CONFIG_KEYS, type ConfigKey, type KeySchema, lookUp, VARIABLE_PREFIX } from './keys.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What Kubernetes sets in every pod for each service of its namespace (Kubernetes documentation, "Service",
 * "Environment variables"): for one named `furze` on port 8087 `FURZE_SERVICE_HOST`, `FURZE_SERVICE_PORT`,
 * `FURZE_SERVICE_PORT_HTTP`, `FURZE_PORT_8087_TCP`, `..._PROTO`, `..._PORT`, `..._ADDR`; for one named `furze-x` the
 * same with `FURZE_X_`.
 */
const INJECTED =
  /^FURZE_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** `FURZE_PORT` and the like hold a URL; for a service named `furze-server` that is the name of a key of ours. */
const INJECTED_PORT = /^FURZE_(?:\w+_)?PORT$/;
const INJECTED_URL = /^(?:tcp|udp|sctp):\/\//;

const KNOWN: ReadonlySet<string> = new Set(CONFIG_KEYS.map((key) => key.variable));

/** The environment without what Kubernetes has put there. */
export function withoutInjected(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isInjected(name, value ?? '')));
}

/** A warning for each variable that looks like ours and is none, such as one whose name is misspelled. */
export function unknownVariableWarnings(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && !KNOWN.has(name))
    .map(
      (name) =>
        `${name}: unknown environment variable, not used; expected ${VARIABLE_PREFIX} with a section and a key, such as FURZE_SERVER_PORT`,
    );
}

function isInjected(name: string, value: string): boolean {
  if (!name.startsWith(VARIABLE_PREFIX)) return false;
  return INJECTED.test(name) || (INJECTED_PORT.test(name) && INJECTED_URL.test(value));
}

/** A key's value in the file's form, and where it was found. */
export interface EffectiveValue {
  readonly value: unknown;
  readonly source: 'environment' | 'file' | 'default';
}

/** Applies the overrides: a variable goes before the file, and the file before the default. */
export function effectiveValue(
  { path, variable, schema }: ConfigKey,
  file: unknown,
  env: Environment,
): EffectiveValue {
  const text = env[variable];
  if (text !== undefined) return { value: readVariable(schema, text), source: 'environment' };
  const value = lookUp(file, path);
  return value === undefined ? { value: schema.default, source: 'default' } : { value, source: 'file' };
}

/** Reads an environment variable's text in the key's type; text that has another form comes back as it is, to be refused. */
function readVariable(schema: KeySchema, text: string): unknown {
  switch (schema.type) {
    case 'array':
      return text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'integer':
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text;
  }
}
