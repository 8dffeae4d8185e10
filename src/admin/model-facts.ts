import type { Model, Quality, Task } from '../domain/admin-schemas.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { sharedBytesOf } from '../memory/find-shared-buffers.ts';
import type { Estimate } from '../model/evaluation/confidence-interval.ts';
import { MODEL_FEATURES, PART_NAMES, partOf } from '../model/registry.ts';
import { RANKING_FEATURES } from '../recommend/models/feature-names.ts';
import type { RankingChoice } from '../recommend/ranking/choose-ranking.ts';
import type { PlacedGeneration } from '../threads/messages.ts';

/** The fit that made the generation that serves, or last found that there was nothing new to learn. */
export function lastGoodFit(past: readonly Task[], generation: number): Task | undefined {
  return past.find((task) => task.Kind === 'fit' && task.Result?.generation === generation);
}

/** Facts about the serving generation, for operators. */
export function describeModel(
  placed: PlacedGeneration,
  past: readonly Task[],
  nowMs: number,
): Model | undefined {
  const { number } = placed;
  const { als } = placed.parts;
  if (als === undefined) return undefined;
  const { quality, userCount, itemCount, factors } = als.header;
  const fit = lastGoodFit(past, number);
  return {
    Generation: number,
    ...(fit?.EndedAt !== undefined && {
      FittedAt: fit.EndedAt,
      AgeSeconds: Math.max(0, (nowMs - Date.parse(fit.EndedAt)) / 1000),
      FitSeconds: fit.Seconds,
    }),
    Quality: { ...quality },
    ...(placed.choice !== undefined && {
      RankedBy: placed.choice.chosen,
      Choice: describeChoice(placed.choice),
    }),
    Users: userCount,
    Items: itemCount,
    Factors: factors,
    Bytes: sharedMemories(placed).reduce((sum, { Bytes }) => sum + Bytes, 0),
  };
}

export function sharedMemories(placed: PlacedGeneration): { Name: string; Bytes: number }[] {
  return PART_NAMES.flatMap((name) => {
    const Bytes = sharedBytesOf(placed.parts[name]);
    return Bytes === 0 ? [] : { Name: partOf(name).title, Bytes };
  });
}

function describeChoice(choice: RankingChoice): NonNullable<Model['Choice']> {
  const describe = ({ mean, halfWidth }: Estimate) => ({ Mean: mean, HalfWidth: halfWidth });
  return {
    Users: choice.users,
    AsOf: formatTimestamp(choice.asOfMs),
    Chosen: choice.chosen,
    OverBestSingle: describe(choice.overBestSingle),
    ...(choice.overPopular !== undefined && { OverPopular: describe(choice.overPopular) }),
    ...(choice.firstOverChosen !== undefined && {
      Reason: reasonOf(choice.rows[0]!.name, choice.firstOverChosen),
    }),
    Ways: choice.rows.map(({ name, quality }) => ({ Name: name, Quality: describe(quality) })),
  };
}

/** The words of what `chooseRanking` does. */
function reasonOf(first: string, { mean, halfWidth }: Estimate): string {
  const lead = `${mean.toFixed(3)} ± ${halfWidth.toFixed(3)}`;
  return `${first} is ahead of it by ${lead}, which is within the noise; of ways as good as each other that one ranks which varies least from fit to fit`;
}

/** Quality of the generation, its ranking, and the quality of the fits before. */
export function describeQuality(placed: PlacedGeneration | undefined, past: readonly Task[]): Quality {
  const weights = placed?.ranking?.weights ?? [];
  return {
    Generation: placed?.number ?? 0,
    Quality: { ...placed?.parts.als?.header.quality },
    Ranking: weights.map((Weight, at) => ({ Feature: RANKING_FEATURES[at] ?? String(at), Weight })),
    Features: MODEL_FEATURES.map(({ name, feature }) => ({ Name: name, Meaning: feature.meaning })),
    Parts: placed === undefined ? [] : sharedMemories(placed).map(({ Name }) => Name),
    Fits: past.filter(({ Kind, State }) => Kind === 'fit' && State === 'done').reverse(),
  };
}
