import { existsSync, readFileSync } from 'node:fs';
import { getOrPut } from '../domain/get-or-put.ts';
import { packageFile } from '../platform/program/program-files.ts';
import type { Kernels } from './kernels.ts';
import { headLength } from './scratch-sizes.ts';

/**
 * Which binary: `relaxed` multiplies and adds in one instruction that rounds once, where the engine has relaxed SIMD;
 * `debug` keeps asserts and names. All are built by `npm run build:wasm`.
 */
export type WasmBuild = 'release' | 'relaxed' | 'debug';

const FILES: Record<WasmBuild, string> = {
  release: 'kernels.wasm',
  relaxed: 'kernels.relaxed.wasm',
  debug: 'kernels.debug.wasm',
};
const NAMES = { release: 'wasm', relaxed: 'wasm-relaxed', debug: 'wasm-debug' } as const;

/** Where a binary lies: in `build/` beside `src/` and `dist/`, so sources and an installed package find the same one. */
export function wasmUrl(build: WasmBuild): URL {
  return packageFile(`build/${FILES[build]}`);
}

type Native = Record<string, (...args: number[]) => number>;

/** Number of parameters of each export that is called here. */
const PARAMETERS: Readonly<Record<Exclude<keyof Kernels, 'name'>, number>> = {
  dot: 3,
  addScaled: 4,
  countNonFinite: 2,
  scoreItems: 6,
  gramian: 4,
  packPanels: 4,
  batchTopK: 16,
  packCoarse: 4,
  queryTopK: 15,
  normalMatrix: 10,
  choleskySolve: 3,
  alsSpectralRows: 14,
  symmetricEigen: 5,
  rotateRows: 5,
  alsCholeskyRows: 12,
  fmScoreRows: 11,
  fmAdaGradRows: 19,
  neighborTopK: 16,
  prunedNeighborTopK: 21,
  sumRows: 9,
  topSums: 7,
  scanBytes: 8,
  nearestBytes: 10,
};

const modules = new Map<WasmBuild, WebAssembly.Module>();

/**
 * Compiles a binary, once a thread.
 * @throws Error when `build/` does not hold it, or the engine lacks SIMD or threads
 */
export function compileKernels(build: WasmBuild = 'release'): WebAssembly.Module {
  return getOrPut(modules, build, () => new WebAssembly.Module(readFileSync(wasmUrl(build))));
}

let relaxedTaken: boolean | undefined;

/** True when the relaxed binary was built and this engine takes it; asked once a thread, the same in all of them. */
export function supportsRelaxed(): boolean {
  const url = wasmUrl('relaxed');
  relaxedTaken ??= existsSync(url) && WebAssembly.validate(readFileSync(url));
  return relaxedTaken;
}

/** Makes an instance of the compiled kernels over `memory`. A module compiled elsewhere may be passed in. */
export function instantiateWasmKernels(
  memory: WebAssembly.Memory,
  build: WasmBuild = 'release',
  module: WebAssembly.Module = compileKernels(build),
): Kernels {
  const native = checked(new WebAssembly.Instance(module, { env: { memory } }).exports, build);
  return {
    name: NAMES[build],
    ...vectorCalls(native),
    ...topKCalls(native),
    ...alsCalls(native),
    ...learningCalls(native),
    ...sumCalls(native),
  };
}

/** @throws Error when the binary is of other sources: a call would then pass the wrong arguments */
function checked(exported: Record<string, unknown>, build: WasmBuild): Native {
  const wrong = Object.entries(PARAMETERS).filter(([name, count]) => {
    const kernel = exported[name];
    return typeof kernel !== 'function' || kernel.length !== count;
  });
  if (wrong.length === 0) return exported as Native;
  const names = wrong.map(([name]) => name).join(', ');
  throw new Error(
    `build/${FILES[build]} does not fit this program (${names}): run "npm run build:wasm", or install furze again`,
  );
}

/** The kernels whose parameters are those of the interface. */
const DIRECT = [
  'dot',
  'addScaled',
  'countNonFinite',
  'gramian',
  'packPanels',
  'packCoarse',
  'scoreItems',
  'choleskySolve',
  'symmetricEigen',
  'rotateRows',
] as const;

function vectorCalls(native: Native): Pick<Kernels, (typeof DIRECT)[number]> {
  return Object.fromEntries(DIRECT.map((name) => [name, native[name]])) as never;
}

type TopKCalls = Pick<Kernels, 'batchTopK' | 'queryTopK' | 'neighborTopK' | 'prunedNeighborTopK'>;

function topKCalls(native: Native): TopKCalls {
  const { batchTopK, queryTopK, neighborTopK, prunedNeighborTopK } = native;
  return {
    batchTopK: (j) => {
      // biome-ignore format: one line an argument group reads like the kernel's signature
      batchTopK!(
        j.queries, j.rows, j.panels, j.items, j.f, j.k, j.readStarts, j.readItems,
        j.outItems, j.outScores, j.outCounts, j.scratch, j.allowedBits ?? 0,
        j.factors ?? 0, j.heads ?? 0, j.heads ? headLength(j.f) : 0,
      );
    },
    queryTopK: (j) =>
      // biome-ignore format: as above
      queryTopK!(
        j.query, j.panels, j.items, j.f, j.k, j.allowedBits ?? 0, j.readItems, j.readCount,
        j.outItems, j.outScores, j.scratch, j.coarse ?? 0,
        j.factors ?? 0, j.heads ?? 0, j.heads ? headLength(j.f) : 0,
      ),
    neighborTopK: (j) => {
      // biome-ignore format: as above
      neighborTopK!(
        j.starts, j.columns, j.otherStarts, j.otherColumns, j.columnWeights, j.norms, j.shrink,
        j.overlapShrink ?? 0, j.rows, j.firstRow, j.endRow, j.k, j.outRows, j.outScores, j.outCounts, j.scratch,
      );
    },
    prunedNeighborTopK: (j) =>
      // biome-ignore format: as above
      prunedNeighborTopK!(
        j.starts, j.columns, j.otherStarts, j.otherColumns, j.columnWeights, j.norms,
        j.overlapShrink ?? 0, j.rows, j.firstRow, j.endRow, j.k, j.outRows, j.outScores, j.outCounts, j.scratch,
        j.records, j.ranks, j.rankLists, j.bitmapOf, j.bitmaps, j.workShare,
      ),
  };
}

function alsCalls(native: Native): Pick<Kernels, 'alsSpectralRows' | 'alsCholeskyRows' | 'normalMatrix'> {
  const { alsSpectralRows, alsCholeskyRows, normalMatrix } = native;
  return {
    alsSpectralRows: (j) => {
      // biome-ignore format: as above
      alsSpectralRows!(
        j.starts, j.columns, j.weights, j.firstRow, j.endRow, j.target, j.source, j.spectrum, j.f,
        j.unobservedWeight, j.regularizations, j.steps, j.scratch, j.gatherRows,
      );
    },
    alsCholeskyRows: (j) =>
      // biome-ignore format: as above
      alsCholeskyRows!(
        j.starts, j.columns, j.weights, j.firstRow, j.endRow, j.target, j.source, j.gramian, j.f,
        j.unobservedWeight, j.regularizations, j.scratch,
      ),
    normalMatrix: (j) => {
      // biome-ignore format: as above
      normalMatrix!(
        j.source, j.f, j.columns, j.weights, j.count, j.base, j.scale, j.diagonal, j.out, j.scratch,
      );
    },
  };
}

function learningCalls(native: Native): Pick<Kernels, 'fmScoreRows' | 'fmAdaGradRows'> {
  const { fmScoreRows, fmAdaGradRows } = native;
  return {
    fmScoreRows: (j) => {
      // biome-ignore format: as above
      fmScoreRows!(
        j.starts, j.features, j.values, j.firstRow, j.endRow, j.bias, j.linear, j.factors, j.f,
        j.outScores, j.scratch,
      );
    },
    fmAdaGradRows: (j) =>
      // biome-ignore format: as above
      fmAdaGradRows!(
        j.starts, j.features, j.values, j.firstRow, j.endRow, j.bias, j.linear, j.factors, j.f,
        j.outScores, j.scratch, j.targets, j.order, j.biasSquares, j.linearSquares, j.factorSquares,
        j.learningRate, j.linearRegularization, j.factorRegularization,
      ),
  };
}

function sumCalls(native: Native): Pick<Kernels, 'sumRows' | 'topSums' | 'scanBytes' | 'nearestBytes'> {
  const { sumRows, topSums, scanBytes, nearestBytes } = native;
  return {
    sumRows: (j) =>
      sumRows!(j.starts, j.columns, j.scores, j.rows, j.items, j.weights, j.count, j.sums, j.bits),
    topSums: (j) => topSums!(j.sums, j.rows, j.bits, j.k, j.allowedBits, j.outRows, j.outScores),
    scanBytes: (j) =>
      // biome-ignore format: as above
      scanBytes!(
        j.records, j.count, j.length, j.query, j.queryScale, j.threshold, j.outPlaces, j.outScores,
      ),
    nearestBytes: (j) =>
      // biome-ignore format: as above
      void nearestBytes!(
        j.records, j.count, j.length, j.centers, j.starts, j.groups, j.groupCount, j.probes, j.out, j.scratch,
      ),
  };
}
