import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../domain/group-digits.ts';
import type { ZeroRating } from '../../exchange/rows-to-records.ts';

/** A record of how a service was set up, to be read again. */
export interface SetUpSummary {
  /** Time, RFC 3339. */
  readonly at: string;
  readonly files: readonly { readonly path: string; readonly encoding: string; readonly columns: string }[];
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
  readonly repeatedTypes: readonly string[];
  /** Ratings from here on are likes; absent where none decide. */
  readonly ratingMin?: number;
  /** The type of rows without a column for it, and that of those with a low rating, where they were said. */
  readonly type?: string;
  readonly lowType?: string;
  /** States of orders whose rows are left out, where they were said, and the rows that were by their state. */
  readonly leftOutStates?: readonly string[];
  readonly leftOut?: Readonly<Record<string, number>>;
  /** Ids that are all guests together, and whether a rating of 0 is none, where there are such. */
  readonly guests?: readonly string[];
  readonly zeroRating?: ZeroRating;
  /** The command that does the same again. */
  readonly command: string;
}

const NAME = 'set-up.json';

/** @param folder of the data */
export function writeSummary(folder: string, summary: SetUpSummary): void {
  writeFileSync(join(folder, NAME), `${JSON.stringify(summary, undefined, 2)}\n`);
}

/** Undefined where the folder was set up another way. */
export function readSummary(folder: string): SetUpSummary | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, NAME), 'utf8')) as SetUpSummary;
  } catch {
    return undefined;
  }
}

/** Rows that are left out, by the state of their order. */
export function describeLeftOut(leftOut: Readonly<Record<string, number>>): string {
  return Object.entries(leftOut)
    .map(([state, rows]) => `${state} ${counted(rows, 'rows')}`)
    .join(', ');
}

export function describeSummary(summary: SetUpSummary): string {
  const { at, files, positiveTypes, readTypes, repeatedTypes, ratingMin, command, leftOut = {} } = summary;
  const lines = [`Set up at ${at} of`];
  for (const { path, encoding, columns } of files) lines.push(`  ${path} (${encoding}): ${columns}`);
  lines.push(
    `Positive: ${positiveTypes.join(', ')}${ratingMin === undefined ? '' : `; ratings from ${ratingMin} on`}`,
  );
  lines.push(`Read: ${readTypes.join(', ') || 'none'}`);
  lines.push(`Every event counts of: ${repeatedTypes.join(', ') || 'none'}`);
  if (Object.keys(leftOut).length > 0) lines.push(`Left out: ${describeLeftOut(leftOut)}`);
  lines.push(`The same again: ${command}`);
  return `${lines.join('\n')}\n`;
}
