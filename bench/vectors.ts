// Vectors: the scan of all beside the search of lists, with and without a filter; what lists take to make.
// Beside them usearch (HNSW, native), where `npm install --no-save usearch` has put it.
// npm run bench:vectors [-- --smoke] [-- --vectors 1000000 --dimensions 384 --noise 0.7 --peer-seconds 600]

import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { createRandom, type Random } from '../src/domain/random.ts';
import type { Kernels } from '../src/kernel/kernels.ts';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { bitWords, hasBit, setBit } from '../src/memory/bits.ts';
import { atOnce } from '../src/platform/concurrency/event-loop-turns.ts';
import { bestAsGiven } from '../src/recommend/vectors/best-as-given.ts';
import { clusterTable } from '../src/recommend/vectors/cluster-table.ts';
import { withSpare } from '../src/recommend/vectors/item-vectors.ts';
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
/** Processor time of a measurement, about. */
const MEASURED_MS = options.smoke ? 20 : 1000;

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
function loadPeer(): CreatePeer | undefined {
  try {
    return (createRequire(import.meta.url)('usearch') as { readonly Index: CreatePeer }).Index;
  } catch {
    return undefined;
  }
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
  return { rows: queries.map(one), ms: msEach(one) };
}

/** Processor time of one query, after as many were asked before. */
function msEach(find: (query: Float32Array) => unknown): number {
  const askSome = () => {
    begunMs = cpuMs();
    let asked = 0;
    while (asked === 0 || cpuMs() - begunMs < MEASURED_MS) find(queries[asked++ % QUERIES]!);
    return (cpuMs() - begunMs) / asked;
  };
  askSome();
  return askSome();
}

const print = (name: string, value: string) => process.stdout.write(`${name.padEnd(52)} ${value}\n`);
print('vectors x dimensions', `${count} x ${dimensions}, noise ${noise}`);
print('memory', `${(listed.memory.buffer.byteLength / 1e6).toFixed(0)} MB`);
print(
  'lists',
  `${listed.starts!.length - 1}, of which ${(100 * listed.shares[0]!).toFixed(2)} % are looked at, made in ${(buildMs / 1000).toFixed(1)} s of processor time`,
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

/** A search as the service does it: twice as many and 50 more by bytes, which the numbers as given put in order. */
function searchAsServed(place: TablePlace, kernels: Kernels, query: Float32Array, k: number): number[] {
  const asked = { query, k: withSpare(k), accept: () => true, passing: 1, scratch: 0 };
  const byBytes = atOnce(scanTable(place, kernels, asked));
  return atOnce(bestAsGiven({ query, similarity: 'cosine', k }, byBytes, givenAt)).rows;
}

/** What part of the true best is found, and how fast. */
interface Point {
  readonly recall: number;
  readonly ms: number;
}

const flatKernels = loadKernels(flat.memory);
// Of so many more by bytes none is missing.
const truth = queries.map((query) => new Set(searchAsServed(flat, flatKernels, query, 4 * K).slice(0, K)));

function measure(name: string, find: (query: Float32Array) => ArrayLike<number>): Point {
  const found = queries.map((query) => find(query));
  const ms = msEach(find);
  const hits = found.flatMap((rows, at) => Array.from(rows).filter((row) => truth[at]!.has(row)));
  const recall = hits.length / K / QUERIES;
  const perSecond = (1000 / ms).toFixed(0);
  print(
    `${name}, of the true best ${K}`,
    `${ms.toFixed(3)} ms, ${perSecond} a second, recall ${recall.toFixed(4)}`,
  );
  return { recall, ms };
}

/** The time that a recall takes, between the points beside it. @param curve by recall; its first and last point stand for what is beyond */
function msAt(curve: readonly Point[], recall: number): number {
  const next = curve.findIndex((point) => point.recall >= recall);
  if (next <= 0) return curve.at(next)!.ms;
  const [from, to] = [curve[next - 1]!, curve[next]!];
  return from.ms + ((recall - from.recall) / (to.recall - from.recall)) * (to.ms - from.ms);
}

const kernels = loadKernels(listed.memory);
const ours = [0.25, 0.5, 0.7, 1, 1.4, 2, 4].map((times) => {
  const share = Math.min(1, times * listed.shares[0]!);
  const name = `lists, ${(100 * share).toFixed(2)} % looked at`;
  return measure(name, (query) => searchAsServed({ ...listed, shares: [share] }, kernels, query, K));
});

/** Vectors added at once. */
const BATCH = 1000;
const Peer = loadPeer();
if (Peer === undefined) print('usearch', 'SKIPPED: it is not installed');
else for (const quantization of ['f32', 'i8'] as const) compareWithPeer(Peer, quantization);

function compareWithPeer(Peer: CreatePeer, quantization: string): void {
  const shape = { metric: 'cos', dimensions, quantization, connectivity: 16, multi: false };
  const before = process.memoryUsage.rss();
  begunMs = cpuMs();
  const peer = new Peer({ ...shape, expansion_add: 128, expansion_search: 64 });
  let added = 0;
  while (added < count && cpuMs() - begunMs < peerSeconds * 1000) {
    const keys = BigUint64Array.from({ length: Math.min(BATCH, count - added) }, (_, at) =>
      BigInt(added + at),
    );
    peer.add(keys, numbers.subarray(added * dimensions, (added + keys.length) * dimensions), 2);
    added += keys.length;
  }
  const seconds = (cpuMs() - begunMs) / 1000;
  if (added < count) {
    print(`usearch ${quantization}`, `NOT COMPARED: it had ${added} vectors after ${seconds.toFixed(0)} s`);
    return;
  }
  const megabytes = (process.memoryUsage.rss() - before) / 1e6;
  print(
    `usearch ${quantization}`,
    `made in ${seconds.toFixed(1)} s of processor time, ${megabytes.toFixed(0)} MB`,
  );
  // A graph finds more where more is asked of it.
  const theirs = [1, 1.5, 2, 4, 8].map((times) =>
    measure(`usearch ${quantization}, best ${times * K} asked`, (query) =>
      Array.from(peer.search(query, times * K, 1).keys.subarray(0, K), Number),
    ),
  );
  for (const wanted of [0.98, 0.985, 0.99, 0.995]) {
    const recall = Math.max(wanted, theirs[0]!.recall);
    const [mine, other] = [msAt(ours, recall), msAt(theirs, recall)];
    const reached = Math.min(ours.at(-1)!.recall, theirs.at(-1)!.recall) >= recall;
    const told = `ours ${mine.toFixed(3)} ms, theirs ${other.toFixed(3)}: ${(other / mine).toFixed(2)} of their queries a second`;
    print(`at a recall of ${recall.toFixed(4)}`, reached ? told : 'NOT COMPARED: one does not come to it');
  }
}
