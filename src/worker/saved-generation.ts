import type { Logger } from '../domain/log.ts';
import type { AlsSettings } from '../model/als/settings.ts';
import { PART_NAMES, type PartName, type PlacedParts, partOf } from '../model/parts.ts';
import { RANKING_FEATURES, type Ranking } from '../recommend/ranking.ts';
import type { RankingChoice } from '../recommend/ranking-choice.ts';
import type { PlacedGeneration } from './messages.ts';
import type { PartTrainer } from './part-trainer.ts';
import type { Marks } from './search-marks.ts';

/** Name of the mark that says which saved parts belong together. */
const GENERATION = 'generation';

/** Written after the parts: so a fit that was cut off leaves the generation before it whole. */
export interface GenerationMark {
  readonly generation: number;
  /** Names of the bytes of the parts that it has. */
  readonly parts: { readonly [Name in PartName]?: string };
  readonly ranking: Ranking | undefined;
  /** How the ranking was chosen. */
  readonly choice: RankingChoice | undefined;
  /** Of the data that it was judged on. */
  readonly fingerprint: number;
  /** The settings of ALS that were asked for. */
  readonly settings: AlsSettings;
  /** The configuration that the other parts were trained with, as text. */
  readonly trainedWith: string;
  /** False when a part could not be trained: then the next fit tries again, whether there is new feedback or not. */
  readonly isWhole: boolean;
}

/** What was read back. */
export interface RestoredGeneration {
  readonly mark: GenerationMark;
  readonly parts: PlacedParts;
}

/** Two generations may lie in the cache store, the last whole one and the one that is being saved. */
export function savedName(part: PartName, generation: number): string | undefined {
  const name = partOf(part).saving?.name;
  return name && `${name}/${generation % 2}`;
}

export function writeGeneration(marks: Marks, mark: GenerationMark): Promise<void> {
  return marks.putMark(GENERATION, mark);
}

export async function readGeneration(marks: Marks): Promise<GenerationMark | undefined> {
  const mark = (await marks.getMark(GENERATION)) as GenerationMark | undefined;
  // Those that older versions wrote name no parts, or rank by other features; what they saved is trained again.
  if (mark?.parts === undefined) return undefined;
  // What is absent comes back as null.
  const ranking = mark.ranking ?? undefined;
  const isOwn = ranking === undefined || ranking.weights.length === RANKING_FEATURES.length;
  return isOwn ? { ...mark, ranking, choice: mark.choice ?? undefined } : undefined;
}

/** The names of what a generation has saved. */
export function savedParts(generation: PlacedGeneration): GenerationMark['parts'] {
  const names = PART_NAMES.filter((name) => generation[name] !== undefined).map((name) => [
    name,
    savedName(name, generation.number),
  ]);
  return Object.fromEntries(names.filter(([, name]) => name !== undefined));
}

/**
 * Places the generation that was saved last. A part that cannot be read is reported and left out.
 * @returns undefined when there is none, or its collaborative model cannot be read
 */
export async function restoreGeneration(
  marks: Marks,
  trainer: PartTrainer,
  log: Logger,
): Promise<RestoredGeneration | undefined> {
  const mark = await readGeneration(marks);
  if (mark === undefined) return undefined;
  const parts: Partial<Record<PartName, unknown>> = {};
  let isWhole = mark.isWhole;
  for (const name of PART_NAMES) {
    const saved = mark.parts[name];
    if (saved === undefined) continue;
    try {
      parts[name] = await trainer.load(name, saved);
    } catch (error) {
      log.error({ err: error }, `the saved ${name} model cannot be used`);
    }
    isWhole &&= parts[name] !== undefined;
  }
  if (parts.als === undefined) return undefined;
  return { mark: { ...mark, isWhole }, parts: parts as PlacedParts };
}
