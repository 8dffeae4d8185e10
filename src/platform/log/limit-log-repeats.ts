import { type Clock, steadyClock } from '../../domain/clock.ts';

/** Shortest time between two equal messages, milliseconds. */
const EVERY_MS = 60_000;

/** Lets each message through once a minute; what goes on failing every second would fill a log. */
export function limitRepeats(
  report: (message: string, error: unknown) => void,
  elapsedMs: Clock = steadyClock,
): (message: string, error: unknown) => void {
  const lastMs = new Map<string, number>();
  return (message, error) => {
    const nowMs = elapsedMs();
    if (nowMs - (lastMs.get(message) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
    lastMs.set(message, nowMs);
    report(message, error);
  };
}
