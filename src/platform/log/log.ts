import { type DestinationStream, type Logger, pino } from 'pino';
import { LogOutput } from './log-output.ts';

export type { Logger } from 'pino';

/** The section `[log]` of the configuration. */
export interface LogSettings {
  readonly level: string;
  readonly format: 'auto' | 'json' | 'text';
}

/** Places where a secret could stand in what is logged; each is written as `[secret]`. */
const SECRET_NAMES = [
  'api_key',
  'api_keys',
  'read_only_api_key',
  'headers["x-api-key"]',
  'headers.authorization',
];
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * A logger of one JSON object a line.
 * @param level least level that is written, as in `[log] level`
 * @param destination where lines go; standard output when absent
 */
export function createLogger(level: string, destination: DestinationStream = new LogOutput()): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_PATHS, censor: '[secret]' },
  };
  return pino(options, destination);
}

/**
 * The logger of a service, on standard output: lines for people on a terminal, JSON for whatever else reads it, unless the
 * configuration says which.
 */
export function serviceLogger({ level, format }: LogSettings): Logger {
  const { stdout } = process;
  const isText = format === 'text' || (format === 'auto' && stdout.isTTY === true);
  const hasColors = stdout.isTTY === true && stdout.hasColors();
  return createLogger(level, new LogOutput(undefined, isText ? textLines(hasColors) : undefined));
}

/** Turns one line of the log, an object in JSON, into what stands in its place; ends with a line end. */
export type RenderLine = (json: string) => string;

const COLORS: Readonly<Record<string, string>> = {
  trace: '\u001b[90m',
  debug: '\u001b[90m',
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[1;31m',
};
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';
const LEVEL_WIDTH = 5;
/** Text that can stand without quotes: nothing that separates, and nothing that a terminal would obey. */
const BARE = /^[^\s"=\p{C}]+$/u;
/** Text that may stand in a sentence: no line ends, no signs that a terminal would obey. */
const UNSAFE = /[\p{C}\u2028\u2029]/gu;

interface Logged {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

/**
 * Lines for people: the local time of day, the level, the message, then what else there is as `name=value`; below an error
 * its stack. A text that was sent by a caller cannot make a line of its own or speak to the terminal.
 * @param hasColors whether the level and the values are set off by the colors of a terminal
 */
export function textLines(hasColors: boolean): RenderLine {
  const paint = (color: string, text: string) => (hasColors && text !== '' ? color + text + PLAIN : text);
  return (json) => {
    const { level, time, msg = '', err, ...rest } = JSON.parse(json) as Logged;
    const name = level.toUpperCase().padEnd(LEVEL_WIDTH);
    const values = Object.entries(rest).map(([key, value]) => `${key}=${shown(value)}`);
    const head = [
      timeOfDay(time),
      paint(COLORS[level] ?? '', name),
      clean(msg),
      paint(DIM, values.join(' ')),
    ];
    const lines = [head.filter((part) => part !== '').join(' '), ...below(err, msg)];
    return `${lines.join('\n')}\n`;
  };
}

/** Further fields of an error, indented. */
function below(err: Logged['err'], said: string): string[] {
  if (err === undefined) return [];
  const { message = '', stack } = err;
  const text = stack ?? (message === said ? '' : message);
  return text === '' ? [] : text.split('\n').map((line) => `  ${clean(line)}`);
}

function timeOfDay(time: string): string {
  return new Date(time).toTimeString().slice(0, 'hh:mm:ss'.length);
}

function shown(value: unknown): string {
  return typeof value === 'string' && BARE.test(value) ? value : clean(JSON.stringify(value));
}

function clean(text: string): string {
  return text.replace(UNSAFE, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
