// How time, memory and disk grow with the feedback: import, start, a first fit by stage, and requests meanwhile.
// npm run bench:scale -- --feedback 1e6,1e7[,1e8] [--memory MiB] [--list-seconds S] [--cache folder] [--write] [--smoke]
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cacheFolder, sizeOf } from './scale/data.ts';
import { measureSize, type SizeFigures } from './scale/measure.ts';
import { growthPlot, tables } from './scale/report.ts';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    feedback: { type: 'string', default: '1e6' },
    /** The most that a fit may take, MiB; 0 for the service's own choice. */
    memory: { type: 'string', default: '0' },
    /** Longest wait for lists; they are for everybody, hours for millions of users. */
    'list-seconds': { type: 'string', default: 'Infinity' },
    /** Where the stores of made-up sets stay from run to run. */
    cache: { type: 'string', default: cacheFolder() },
    /** Writes the plot to docs/performance.svg. */
    write: { type: 'boolean', default: false },
  },
});

const { smoke } = options;
const cache = smoke ? await mkdtemp(join(tmpdir(), 'furze-scale-')) : options.cache;
const sizes = smoke ? [5000] : options.feedback.split(',').map(Number);
const figures: SizeFigures[] = [];
for (const feedback of sizes) {
  const size = sizeOf(feedback);
  console.log(`${feedback} feedback, ${size.users} users, ${size.items} items`);
  const folder = join(cache, `service-${feedback}`);
  figures.push(
    await measureSize({
      folder,
      size,
      memoryMb: Number(options.memory),
      listSecondsMax: Number(options['list-seconds']),
      idleMs: smoke ? 300 : 10_000,
    }),
  );
}
if (smoke) await rm(cache, { recursive: true });
const text = tables(figures);
console.log(text);
const plot = growthPlot(figures);
if (options.write) {
  await writeFile(fileURLToPath(new URL('../docs/performance.svg', import.meta.url)), plot);
} else if (!smoke) await writeFile(join(cache, 'performance.svg'), plot);
