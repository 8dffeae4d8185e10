// Vectors: the scan of all beside the search of lists, with and without a filter; what lists take to make.
// Beside them usearch (HNSW, native), where `npm install --no-save usearch` has put it.
// npm run bench:vectors [-- --smoke] [-- --vectors 1000000 --dimensions 384 --noise 0.7 --peer-seconds 600]
import { parseArgs } from 'node:util';
import { createRandom, type Random } from '../src/domain/random.ts';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { bitWords, hasBit, setBit } from '../src/memory/bits.ts';
import { TopK } from '../src/memory/top-k.ts';
import { atOnce } from '../src/platform/concurrency/event-loop-turns.ts';
import { clusterTable } from '../src/recommend/vectors/cluster-table.ts';
import { similarityOf } from '../src/recommend/vectors/packed-numbers.ts';
import { scanTable } from '../src/recommend/vectors/scan-table.ts';
import { type TablePlace, VectorTable } from '../src/recommend/vectors/vector-table.ts';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    vectors: { type: 'string', default: '200000' },
    dimensions: { type: 'string', default: '384' },
    noise: { type: 'string', default: '0.7' },
    /** Processor time that usearch has for its index; an index that takes longer is told, and not compared. */
    'peer-seconds': { type: 'string', default: '600' },
  },
});
const count = options.smoke ? 20_000 : Number(options.vectors);
const dimensions = options.smoke ? 64 : Number(options.dimensions);
/** Spread of vectors around their topic, whose own spread is 0.7. */
const noise = Number(options.noise);
const peerSeconds = Number(options['peer-seconds']);
const K = 100;
const QUERIES = options.smoke ? 20 : 100;

/** Topics within topics within themes, and noise: what texts of a shop are like, more or less. */
function world(random: Random): () => Float32Array {
  const draw = (spread: number) => Float32Array.from({ length: dimensions }, () => spread * random.normal());
  const common = draw(1);
  const themes = Array.from({ length: 30 }, () => draw(1));
  const topics = Array.from({ length: Math.ceil(count / 200) }, () => ({
    theme: themes[random.below(themes.length)]!,
    own: draw(0.7),
  }));
  return () => {
    const { theme, own } = topics[random.below(topics.length)]!;
    return Float32Array.from(
      common,
      (number, at) => number + theme[at]! + own[at]! + noise * random.normal(),
    );
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** An index of usearch, as far as it is asked here. */
interface Peer {
  add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
  search(query: Float32Array, k: number, threads: number): { readonly keys: BigUint64Array };
}
type CreatePeer = new (options: object) => Peer;

/** @returns undefined where it is not installed */
async function loadPeer(): Promise<CreatePeer | undefined> {
  const name = 'usearch';
  return import(name).then(
    (module: { readonly Index: CreatePeer }) => module.Index,
    () => undefined,
  );
}

const draw = world(createRandom(1));
const numbers = new Float32Array(count * dimensions);
const givenAt = (row: number) => numbers.subarray(row * dimensions, (row + 1) * dimensions);
const table = new VectorTable({ dimensions, similarity: 'cosine' }, 1);
for (let row = 0; row < count; row++) {
  numbers.set(draw(), row * dimensions);
  table.put(row, givenAt(row));
}
const queries = Array.from({ length: QUERIES }, draw);
const flat = table.place;
let begunMs = cpuMs();
const clustered = atOnce(clusterTable(flat, loadKernels));
const buildMs = cpuMs() - begunMs;
table.adopt(clustered, []);
const listed = table.place;

/** Bits of so large a share of the rows, by topic of none. */
function allowedOf(share: number): Uint32Array {
  const random = createRandom(2);
  const bits = new Uint32Array(bitWords(count));
  for (let row = 0; row < count; row++) if (random.float() < share) setBit(bits, row);
  return bits;
}

function search(place: TablePlace, allowed: Uint32Array, passing: number): { rows: number[][]; ms: number } {
  const kernels = loadKernels(place.memory);
  const accept = (row: number) => hasBit(allowed, row);
  const one = (query: Float32Array) =>
    atOnce(scanTable(place, kernels, { query, k: K, accept, passing, scratch: 0 })).rows;
  one(queries[0]!);
  begunMs = cpuMs();
  const rows = queries.map(one);
  return { rows, ms: (cpuMs() - begunMs) / queries.length };
}

const print = (name: string, value: string) => process.stdout.write(`${name.padEnd(52)} ${value}\n`);
print('vectors x dimensions', `${count} x ${dimensions}, noise ${noise}`);
print('memory', `${(listed.memory.buffer.byteLength / 1e6).toFixed(0)} MB`);
print(
  'lists',
  `${listed.starts!.length - 1}, of which ${(100 * listed.share).toFixed(1)} % are looked at, made in ${(buildMs / 1000).toFixed(1)} s of processor time`,
);
for (const share of [1, 0.3, 0.1, 0.01]) {
  const allowed = allowedOf(share);
  const exact = search(flat, allowed, share);
  const near = search(listed, allowed, share);
  const hits = near.rows.map((rows, at) => {
    const found = new Set(rows);
    return exact.rows[at]!.filter((row) => found.has(row)).length / exact.rows[at]!.length;
  });
  const recall = hits.reduce((sum, hit) => sum + hit, 0) / hits.length;
  print(
    `best ${K} where ${100 * share} % pass`,
    `all ${exact.ms.toFixed(2)} ms, lists ${near.ms.toFixed(2)} ms (${(near.ms / exact.ms).toFixed(3)}), recall ${recall.toFixed(4)}`,
  );
}

/** Rows with the largest cosines, by the numbers as given. */
function nearestOf(query: Float32Array): Set<number> {
  const best = new TopK(K);
  for (let row = 0; row < count; row++) best.push(row, similarityOf(query, givenAt(row), 'cosine'));
  return new Set(best.rows());
}

const truth = queries.map(nearestOf);
function tell(name: string, rows: readonly ArrayLike<number>[], ms: number, more = ''): number {
  const recall = rows.reduce((sum, found, at) => {
    let hits = 0;
    for (let place = 0; place < found.length; place++) hits += Number(truth[at]!.has(found[place]!));
    return sum + hits / K / rows.length;
  }, 0);
  print(
    `${name}, of the true best ${K}`,
    `${ms.toFixed(2)} ms, ${(1000 / ms).toFixed(0)} a second, recall ${recall.toFixed(4)}${more}`,
  );
  return recall;
}
// As a search of the service: twice as many and 50 more by bytes, which the numbers as given put in order.
const kernels = loadKernels(listed.memory);
const searchAsServed = (query: Float32Array) => {
  const asked = { query, k: 2 * K + 50, accept: () => true, passing: 1, scratch: 0 };
  const best = new TopK(K);
  for (const row of atOnce(scanTable(listed, kernels, asked)).rows)
    best.push(row, similarityOf(query, givenAt(row), 'cosine'));
  return best.rows();
};
for (const query of queries) searchAsServed(query);
begunMs = cpuMs();
const ours = queries.map(searchAsServed);
const oursMs = (cpuMs() - begunMs) / QUERIES;
tell('lists and the numbers as given', ours, oursMs);

const Peer = await loadPeer();
if (Peer === undefined) print('usearch', 'SKIPPED: it is not installed');
else
  for (const quantization of ['f32', 'i8'] as const) {
    const shape = { metric: 'cos', dimensions, quantization, connectivity: 16, multi: false };
    const before = process.memoryUsage.rss();
    begunMs = cpuMs();
    const peer = new Peer({ ...shape, expansion_add: 128, expansion_search: 64 });
    let added = 0;
    while (added < count && cpuMs() - begunMs < peerSeconds * 1000)
      peer.add(BigUint64Array.of(BigInt(added)), givenAt(added++), 1);
    const seconds = (cpuMs() - begunMs) / 1000;
    if (added < count) {
      print(`usearch ${quantization}`, `NOT COMPARED: it had ${added} vectors after ${seconds.toFixed(0)} s`);
      continue;
    }
    const megabytes = (process.memoryUsage.rss() - before) / 1e6;
    print(
      `usearch ${quantization}`,
      `made in ${seconds.toFixed(1)} s of processor time, ${megabytes.toFixed(0)} MB`,
    );
    // A graph finds more where more is asked of it.
    for (const k of [K, 2 * K, 4 * K, 8 * K]) {
      for (const query of queries) peer.search(query, k, 1);
      begunMs = cpuMs();
      const found = queries.map((query) => Array.from(peer.search(query, k, 1).keys.subarray(0, K), Number));
      const ms = (cpuMs() - begunMs) / QUERIES;
      if (
        tell(
          `usearch ${quantization}, best ${k} asked`,
          found,
          ms,
          `, ours takes ${(oursMs / ms).toFixed(2)} of that`,
        ) >= 0.98
      )
        break;
    }
  }
