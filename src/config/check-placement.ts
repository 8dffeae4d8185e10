import { FilterError } from '../domain/filter-error.ts';
import { parseFilter } from '../domain/filter-tree.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import type { Config } from './schema.ts';
import { show } from './show.ts';

/** Checks the keys of a placement together. @param at its path */
export function checkPlacement(
  { filter, pins, length, kind, begun }: Config['placement'][string],
  at: string,
  problems: string[],
): void {
  if (kind === 'continue' && begun.length === 0)
    problems.push(`${at}.begun: expected feedback types, as kind is "continue", got none`);
  try {
    parseFilter(filter);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    problems.push(`${at}.filter${error.path}: ${error.message}`);
  }
  for (const [number, { item, place, until }] of pins.entries()) {
    const pin = `${at}.pins[${number}]`;
    if (until !== undefined && Number.isNaN(parseTimestamp(until)))
      problems.push(`${pin}.until: expected a time such as "2030-01-31T18:00:00Z", got ${show(until)}`);
    if (length > 0 && place > length)
      problems.push(`${pin}.place: expected at most ${at}.length (${length}), got ${place}`);
    const before = pins.slice(0, number);
    if (before.some((other) => other.place === place))
      problems.push(`${pin}.place: expected a place without another pin, got ${place} twice`);
    if (before.some((other) => other.item === item))
      problems.push(`${pin}.item: expected an item without another pin, got ${show(item)} twice`);
  }
}
