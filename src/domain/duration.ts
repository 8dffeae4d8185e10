const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // Both code points that are read as a micro sign.
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const WHOLE = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;

/**
 * Reads a duration as Go writes it: `1h30m`, `0h10m0s`, `1.5h`, `100ms`. Every number needs a unit; there is no sign.
 * @returns milliseconds, or NaN when the text has another form.
 */
export function parseDuration(text: string): number {
  if (!WHOLE.test(text)) return Number.NaN;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) totalMs += Number(amount) * UNIT_MS[unit as string]!;
  return Number.isFinite(totalMs) ? totalMs : Number.NaN;
}

/** Writes a duration as Go does: `1h30m0s`, `1.5s`, `100ms`, `0s`. @param durationMs milliseconds, not negative */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  if (durationMs < 1e-3) return `${trim(durationMs * 1e6, 0)}ns`;
  if (durationMs < 1) return `${trim(durationMs * 1e3, 3)}\u00b5s`;
  if (durationMs < 1000) return `${trim(durationMs, 6)}ms`;
  const hours = Math.floor(durationMs / 3_600_000);
  const minutes = Math.floor((durationMs % 3_600_000) / 60_000);
  const seconds = `${trim((durationMs % 60_000) / 1000, 9)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function trim(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** The longest delay that a timer takes, milliseconds; Node lets a longer one end at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

const DAY_MS = 86_400_000;

/** Days of a time to live in milliseconds; 0 days is for ever. */
export function ttlMs(days: number): number {
  return days === 0 ? Number.POSITIVE_INFINITY : days * DAY_MS;
}
