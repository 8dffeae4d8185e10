import { type DestinationStream, type Logger, pino } from 'pino';
import { LogOutput } from './log-output.ts';
import { textLines } from './log-text.ts';

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
