import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

export function describeSummary(summary: SetUpSummary): string {
  const { at, files, positiveTypes, readTypes, repeatedTypes, ratingMin, command } = summary;
  const lines = [`Set up at ${at} of`];
  for (const { path, encoding, columns } of files) lines.push(`  ${path} (${encoding}): ${columns}`);
  lines.push(
    `Positive: ${positiveTypes.join(', ')}${ratingMin === undefined ? '' : `; ratings from ${ratingMin} on`}`,
  );
  lines.push(`Read: ${readTypes.join(', ') || 'none'}`);
  lines.push(`Every event counts of: ${repeatedTypes.join(', ') || 'none'}`);
  lines.push(`The same again: ${command}`);
  return `${lines.join('\n')}\n`;
}
