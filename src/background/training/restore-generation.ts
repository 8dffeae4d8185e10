import { PART_NAMES, type PartName, type PlacedParts } from '../../model/registry.ts';
import type { Logger } from '../../platform/log/log.ts';
import { RANKING_FEATURES } from '../../recommend/models/feature-names.ts';
import type { PlacedGeneration } from '../../threads/messages.ts';
import { type GenerationManifest, MODEL_FORMAT, type ModelShelf } from '../generation/generation-storage.ts';
import type { PartTrainer } from './part-trainer.ts';

export interface RestoredGeneration {
  readonly manifest: GenerationManifest;
  readonly parts: PlacedParts;
}

/** @returns undefined when there is none, or none that this program knows, which is reported */
async function readGeneration(shelf: ModelShelf, log: Logger): Promise<GenerationManifest | undefined> {
  const manifest = await shelf.read();
  if (manifest === undefined) return undefined;
  const { format, generation, version } = manifest;
  if (format !== MODEL_FORMAT) {
    log.warn(
      `generation ${generation} has model format ${format}, of furze ${version}; this program reads ${MODEL_FORMAT} alone: the generation that it has goes on serving until it is brought to that version`,
    );
    return undefined;
  }
  // Absent fields come back as null, and weights of other features rank nothing.
  const ranking = manifest.ranking ?? undefined;
  const isOwn = ranking?.byKind.every(({ weights }) => weights.length === RANKING_FEATURES.length) ?? true;
  return isOwn ? { ...manifest, ranking, choice: manifest.choice ?? undefined } : undefined;
}

export function savedParts(generation: PlacedGeneration, shelf: ModelShelf): GenerationManifest['parts'] {
  const names = PART_NAMES.filter((name) => generation.parts[name] !== undefined).map((name) => [
    name,
    shelf.nameOf(name, generation.number),
  ]);
  return Object.fromEntries(names.filter(([, name]) => name !== undefined));
}

/**
 * Places the generation that was saved last. A part that cannot be read is reported and left out where the generation is this
 * node's own; one of a database that all nodes share can be read later on.
 * @returns undefined when there is none, its collaborative model cannot be read, or the threads that read were stopped
 * @throws Error when a part in a database cannot be read
 */
export async function restoreGeneration(
  trainer: PartTrainer,
  log: Logger,
): Promise<RestoredGeneration | undefined> {
  const { shelf } = trainer.options;
  const manifest = await readGeneration(shelf, log);
  if (manifest === undefined) return undefined;
  const parts: Partial<Record<PartName, unknown>> = {};
  let isWhole = manifest.isWhole;
  for (const name of PART_NAMES) {
    const saved = manifest.parts[name];
    if (saved === undefined) continue;
    try {
      parts[name] = await trainer.load(name, saved);
      if (parts[name] === undefined && shelf.isShared) throw new Error(`the model ${saved} is not there`);
    } catch (error) {
      if (trainer.isStopped) return undefined;
      if (shelf.isShared) throw error;
      log.error({ err: error }, `the saved ${name} model cannot be used`);
    }
    isWhole &&= parts[name] !== undefined;
  }
  if (parts.als === undefined) return undefined;
  return { manifest: { ...manifest, isWhole }, parts: parts as PlacedParts };
}
