// Each kernel against its plain TypeScript twin and, where g++ is found, a C++ twin: alternating runs, medians.
// npm run bench:kernels [-- --smoke] [-- --rounds 7] [-- --only NAME]
import { parseArgs } from 'node:util';
import { createRandom } from '../src/domain/random.ts';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { Arena } from '../src/memory/arena.ts';
import { createSharedMemory, u8 } from '../src/memory/shared-memory.ts';
import { instantiatePlainKernels } from '../test/plain-kernels/plain-kernels.ts';
import { median } from './http/statistics.ts';
import { KERNEL_CASES, type KernelCase } from './kernel-cases.ts';
import { createNativeFolder, NativeTwin, removeNativeFolder } from './native-twin.ts';

const MEMORY_BYTES = 256 << 20;
/** Runs of the fast kernels in a round, for one of the plain twin. */
const RUNS_A_ROUND = 3;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});

function timed(run: () => void): number {
  const start = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

interface Times {
  readonly wasm: number[];
  readonly plain: number[];
  readonly native: number[];
}

async function measure(arena: Arena, testCase: KernelCase, folder: string | undefined): Promise<Times> {
  const wasm = loadKernels(arena.memory, 'wasm');
  const plain = instantiatePlainKernels(arena.memory);
  const bytes = u8(arena.memory, 0, arena.usedBytes);
  const twin =
    folder && testCase.native && new NativeTwin(folder, testCase.native.name, bytes, testCase.native.numbers);
  const times: Times = { wasm: [], plain: [], native: [] };
  for (let i = 0; i < 10; i++) testCase.run(wasm);
  for (let round = 0; round < (options.smoke ? 1 : Number(options.rounds)); round++) {
    for (let i = 0; i < RUNS_A_ROUND; i++) {
      times.wasm.push(timed(() => testCase.run(wasm)));
      if (twin) times.native.push(await twin.run());
    }
    times.plain.push(timed(() => testCase.run(plain)));
  }
  if (twin) twin.close();
  return times;
}

const folder = createNativeFolder();
const memory = createSharedMemory(MEMORY_BYTES);
const table = [];
for (const makeCase of KERNEL_CASES) {
  const arena = new Arena(memory);
  const kernels = loadKernels(memory, 'wasm');
  u8(memory, 0, memory.buffer.byteLength).fill(0);
  const testCase = makeCase({ arena, random: createRandom(1), kernels, divisor: options.smoke ? 20 : 1 });
  if (!testCase.name.includes(options.only)) continue;
  const times = await measure(arena, testCase, folder);
  const [wasmMs, plainMs, nativeMs] = [median(times.wasm), median(times.plain), median(times.native)];
  table.push({
    kernel: testCase.name,
    'WASM ms': wasmMs.toFixed(3),
    'G operations/s': (testCase.operations / wasmMs / 1e6).toFixed(1),
    'times faster than TypeScript': (plainMs / wasmMs).toFixed(1),
    'time over C++': Number.isNaN(nativeMs) ? '-' : (wasmMs / nativeMs).toFixed(2),
  });
}
if (folder) removeNativeFolder(folder);
console.table(table);
