import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.js';
import { ENTRIES } from '../entries.ts';
import { tempFolder } from '../store/helpers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A model without a kernel: each item speaks for the one that came after it into the store. */
const PART = `
import { spreadTable } from '../neighbors/neighbor-table.ts';
import { placedSumsBytes } from '../neighbors/row-sums.ts';
import { type SummedPart, sumOfLikes, summedTable } from '../neighbors/summed-lists.ts';
import { filled, sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import { createChunkCounter, type SharedTask } from '../part/chunks-for-threads.ts';
import { servedItems, type WithServedItems } from '../part/served-items.ts';

interface ShelfTask extends SharedTask, WithServedItems {
  readonly itemCount: number;
}

export const shelfPart: SummedPart<object, ShelfTask, never, 'shelf'> = {
  title: 'items on a shelf',
  stage: 'Sorting the shelf',
  ...summedTable('shelf'),
  memory({ interactions, itemRowCount }, _options, slots, { listLengthMax }) {
    const table = { learnedItems: interactions.itemCount, entriesARow: 1, rowCount: itemRowCount };
    const { models, scratch } = placedSumsBytes(table, slots, listLengthMax);
    return { training: 0, models: models + scratch };
  },
  prepare: (data) => ({
    itemCount: data.interactions.itemCount,
    served: servedItems(data),
    counter: createChunkCounter(),
  }),
  *course() {
    yield* [];
    return undefined;
  },
  run: () => true,
  model({ itemCount, served }, _outcome, fingerprint) {
    const starts = filled(sharedU32(itemCount + 1), Array.from({ length: itemCount + 1 }, (_, at) => at));
    const rows = filled(sharedU32(itemCount), Array.from({ length: itemCount }, (_, at) => (at + 1) % itemCount));
    const scores = sharedF32(itemCount).fill(1);
    return spreadTable({ rowCount: itemCount, fingerprint, recall: 1, starts, rows, scores }, served);
  },
  features: { shelf: sumOfLikes('the item beside it on the shelf', true) },
  training: { options: () => ({}), isAlwaysWanted: true, isOnDemand: false },
};
`;

/** Everybody goes along the shelf, a step a day, from a place of their own. Prints what a service makes of that. */
const SCRIPT = `
import { defaultConfig } from './config/config.ts';
import { createLogger } from './platform/log/log.ts';
import { startService } from './service/service.ts';

const DAY_MS = 86_400_000;
const nowMs = Date.parse('2024-06-01T00:00:00Z');
const item = (at) => 'i' + String(at % 300).padStart(3, '0');
const config = defaultConfig({
  server: { port: 0 },
  worker: { threads: 2 },
  database: { data_store: 'lmdb://' + process.argv[2] + '/data', cache_store: 'lmdb://' + process.argv[2] + '/cache' },
  recommend: { data_source: { positive_feedback_types: ['like'] } },
});
const lines = [];
const log = createLogger('warn', { write: (line) => lines.push(line) });
const options = { config, log, clock: () => nowMs, onDemand: true };
const start = async () => {
  const service = await startService(options);
  const get = async (path) => (await fetch('http://127.0.0.1:' + service.address.port + path)).json();
  return { service, get };
};
const { service, get } = await start();
const items = Array.from({ length: 300 }, (_, at) => ({
  ...{ ItemId: item(at), IsHidden: false, Labels: [], Categories: [], Comment: '' },
  Timestamp: new Date(nowMs - 300 * DAY_MS).toISOString(),
}));
const feedback = Array.from({ length: 250 * 12 }, (_, at) => {
  const [user, day] = [Math.floor(at / 12), at % 12];
  const Timestamp = new Date(nowMs - (12 - day) * DAY_MS).toISOString();
  return { FeedbackType: 'like', UserId: 'u' + user, ItemId: item(37 * user + day), Timestamp, Comment: '', Value: 0 };
});
const base = 'http://127.0.0.1:' + service.address.port;
for (const [path, body] of [['/api/items', items], ['/api/feedback', feedback]]) {
  const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(path + ': ' + (await answer.text()));
}
await service.fit();
const learned = await get('/api/admin/quality');
const list = await get('/api/recommend/u5?n=3');
const ways = (await get('/api/admin/summary')).Model?.Choice?.Ways;
await service.stop();
const again = await start();
const restored = await again.get('/api/admin/quality');
await again.service.stop();
process.stdout.write(JSON.stringify({ learned, ways, list, restored, lines }));
`;

/** Puts text before a mark that stands in a file once. */
function insertBefore(path: string, mark: string, text: string): void {
  const source = readFileSync(path, 'utf8');
  expect(source.split(mark)).toHaveLength(2);
  writeFileSync(path, source.replace(mark, text + mark));
}

it('a model is a folder and its line in the registry: it is trained, judged beside the others, told, saved and restored', async () => {
  const folder = tempFolder();
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'build']) symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, 'src/model/shelf'));
  writeFileSync(join(folder, 'src/model/shelf/train-and-serve.ts'), PART);
  const registry = join(folder, 'src/model/registry.ts');
  insertBefore(registry, 'import { slimPart }', "import { shelfPart } from './shelf/train-and-serve.ts';\n");
  insertBefore(registry, '  itemNeighbors: itemNeighborsPart,', '  shelf: shelfPart,\n');
  writeFileSync(join(folder, 'src/fit.ts'), SCRIPT);
  await build({
    ...bundleOptions(),
    absWorkingDir: folder,
    entryPoints: ['src/fit.ts', ...ENTRIES],
    outbase: 'src',
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
  });
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/fit.js', folder], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  const { learned, ways, list, restored, lines } = JSON.parse(stdout);
  expect(lines).toEqual([]);
  expect(learned.Features).toContainEqual({ Name: 'shelf', Meaning: 'the item beside it on the shelf' });
  expect(ways.find(({ Name }: { Name: string }) => Name === 'shelf').Quality.Mean).toBeGreaterThan(0.3);
  expect(learned.Ranking.map(({ Feature }: { Feature: string }) => Feature)).toContain('shelf');
  expect(learned.Parts).toContain('items on a shelf');
  // User 5 has come from item 185 to 196.
  expect(list[0]).toBe('i197');
  expect(restored.Generation).toBe(1);
  expect(restored.Parts).toEqual(learned.Parts);
});
