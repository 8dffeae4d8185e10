import type { Kernels } from '../../src/kernel/kernels.ts';
import { byteRecordBytes } from '../../src/kernel/scratch-sizes.ts';

/** See `Kernels.scanBytes`. */
export function plainByteKernels(memory: WebAssembly.Memory): Pick<Kernels, 'scanBytes'> {
  const { fround } = Math;
  return {
    scanBytes({ records, count, length, query, queryScale, threshold, outPlaces, outScores }) {
      const view = new DataView(memory.buffer);
      let found = 0;
      for (let place = 0; place < count; place++) {
        const record = records + place * byteRecordBytes(length);
        let sum = 0;
        for (let at = 0; at < length; at++)
          sum += view.getInt8(record + at) * view.getInt16(query + at * 2, true);
        const scale = fround(view.getFloat32(record + length, true) * fround(queryScale));
        const offset = view.getFloat32(record + length + 4, true);
        const score = fround(fround(fround(sum) * scale) + offset);
        if (!(score > fround(threshold))) continue;
        view.setUint32(outPlaces + found * 4, place, true);
        view.setFloat32(outScores + found * 4, score, true);
        found++;
      }
      return found;
    },
  };
}
