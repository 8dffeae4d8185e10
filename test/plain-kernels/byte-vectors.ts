import type { Kernels } from '../../src/kernel/kernels.ts';
import { byteRecordBytes } from '../../src/kernel/scratch-sizes.ts';

/** See `Kernels.scanBytes` and `Kernels.nearestBytes`. */
export function plainByteKernels(memory: WebAssembly.Memory): Pick<Kernels, 'scanBytes' | 'nearestBytes'> {
  const { fround } = Math;
  const scoreOf = (record: number, length: number, query: readonly number[], queryScale: number) => {
    const view = new DataView(memory.buffer);
    const sum = query.reduce((all, number, at) => all + number * view.getInt8(record + at), 0);
    const scale = fround(view.getFloat32(record + length, true) * fround(queryScale));
    return fround(fround(fround(sum) * scale) + view.getFloat32(record + length + 4, true));
  };
  return {
    scanBytes({ records, count, length, query, queryScale, threshold, outPlaces, outScores }) {
      const view = new DataView(memory.buffer);
      const numbers = Array.from({ length }, (_, at) => view.getInt16(query + at * 2, true));
      let found = 0;
      for (let place = 0; place < count; place++) {
        const score = scoreOf(records + place * byteRecordBytes(length), length, numbers, queryScale);
        if (!(score > fround(threshold))) continue;
        view.setUint32(outPlaces + found * 4, place, true);
        view.setFloat32(outScores + found * 4, score, true);
        found++;
      }
      return found;
    },
    nearestBytes({ records, count, length, centers, starts, groups, groupCount, probes, out }) {
      const view = new DataView(memory.buffer);
      const bytes = byteRecordBytes(length);
      const startOf = (group: number) => view.getUint32(starts + group * 4, true);
      for (let record = 0; record < count; record++) {
        const query = Array.from({ length }, (_, at) => view.getInt8(records + record * bytes + at));
        const near = Array.from({ length: groupCount }, (_, group) => ({
          group,
          score: scoreOf(groups + group * bytes, length, query, 1),
        })).sort((one, other) => other.score - one.score);
        let best = { center: startOf(0), score: Number.NEGATIVE_INFINITY };
        for (const { group } of near.slice(0, probes))
          for (let center = startOf(group); center < startOf(group + 1); center++) {
            const score = scoreOf(centers + center * bytes, length, query, 1);
            if (score > best.score) best = { center, score };
          }
        view.setUint32(out + record * 4, best.center, true);
      }
    },
  };
}
