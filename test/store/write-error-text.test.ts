import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { tempFolder } from './helpers.ts';

const WRITER = join(inject('compiled'), 'test/store/failing-writer.js');
/** What the engine takes for its words of a write that failed, whatever their length. */
const ENGINE_BYTES = 100;

it.runIf(process.platform === 'linux')(
  'what the engine says of a failed write stays within the memory that it takes for that',
  () => {
    const path = tempFolder();
    const write = (blocks: string, bytes: number) =>
      execFileSync(
        'sh',
        ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath, WRITER, path, String(bytes)],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      );
    expect(write('unlimited', 10)).toBe('');
    // No file may grow any more: the values, which lie behind its end, cannot be written.
    const blocks = statSync(join(path, 'data.mdb')).size / 512;
    const text = write(String(blocks), 1_200_000).trim();
    expect(text).toMatch(/^File too large: Attempting to write page at position \d+, size \d{8}/);
    expect(text.slice(text.indexOf(': ') + 2).length).toBeLessThan(ENGINE_BYTES);
  },
);
