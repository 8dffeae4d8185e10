import type { Model, Quality, Task } from '../domain/admin-schemas.ts';
import { RANKING_FEATURES } from '../recommend/ranker.ts';
import type { PlacedGeneration } from '../worker/messages.ts';

/** The fit that made the generation that serves, or last found that there was nothing new to learn. */
export function lastGoodFit(past: readonly Task[], generation: number): Task | undefined {
  return past.find((task) => task.Kind === 'fit' && task.Result?.generation === generation);
}

/** What is told of the generation that serves. */
export function describeModel(
  placed: PlacedGeneration,
  past: readonly Task[],
  nowMs: number,
): Model | undefined {
  const { collaborative, number } = placed;
  if (collaborative === undefined) return undefined;
  const { quality, userCount, itemCount, factors } = collaborative.header;
  const fit = lastGoodFit(past, number);
  return {
    Generation: number,
    ...(fit?.EndedAt !== undefined && {
      FittedAt: fit.EndedAt,
      AgeSeconds: Math.max(0, (nowMs - Date.parse(fit.EndedAt)) / 1000),
      FitSeconds: fit.Seconds,
    }),
    Quality: { ...quality },
    Users: userCount,
    Items: itemCount,
    Factors: factors,
    Bytes: sharedMemories(placed).reduce((sum, { Bytes }) => sum + Bytes, 0),
  };
}

/** The shared memory of each part of a generation. */
export function sharedMemories(placed: PlacedGeneration): { Name: string; Bytes: number }[] {
  const parts: Readonly<Record<string, unknown>> = {
    'collaborative model': placed.collaborative,
    'click-through model': placed.clickThrough,
    'item neighbors': placed.itemNeighbors,
    'item weights': placed.itemWeights,
    'users compared by items': placed.users?.byItems,
    'users compared by labels': placed.users?.byLabels,
  };
  return Object.entries(parts).flatMap(([Name, part]) => {
    const Bytes = sharedBytes(part);
    return Bytes === 0 ? [] : { Name, Bytes };
  });
}

/** Bytes of the shared memory that a part names: of its memory, or of its arrays where it has none. */
function sharedBytes(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  if ('memory' in part && part.memory instanceof WebAssembly.Memory) return part.memory.buffer.byteLength;
  const buffers = new Set(
    Object.values(part).flatMap((value) => (ArrayBuffer.isView(value) ? value.buffer : [])),
  );
  return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** What the generation was measured at, what it ranks by, and how it went in the fits before. */
export function describeQuality(placed: PlacedGeneration | undefined, past: readonly Task[]): Quality {
  const weights = placed?.ranking?.weights ?? [];
  return {
    Generation: placed?.number ?? 0,
    Quality: { ...placed?.collaborative?.header.quality },
    Ranking: weights.map((Weight, at) => ({ Feature: RANKING_FEATURES[at] ?? String(at), Weight })),
    Parts: placed === undefined ? [] : sharedMemories(placed).map(({ Name }) => Name),
    Fits: past.filter(({ Kind, State }) => Kind === 'fit' && State === 'done').reverse(),
  };
}
