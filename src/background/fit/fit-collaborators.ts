/** Everything that a fit is made with, and what comes of it. */
import type { FitSettings } from '../../model/part/learned-part.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { PopularitySpans } from '../../recommend/popularity/popularity-counts.ts';
import type { ListSettings } from '../../recommend/sources/list-settings.ts';
import type { ListPlan, PlacedGeneration, TakenGiven } from '../../threads/messages.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import type { AlsTraining } from '../training/als-training.ts';
import type { PartTrainer } from '../training/part-trainer.ts';
import type { TrainingDataLoader } from '../training/training-data-loader.ts';

export interface GenerationFitOptions extends FitSettings {
  readonly readTypes: readonly string[];
  readonly clickThrough: boolean;
  /** True where a recommender looks at users like a user. */
  readonly usesUsers: boolean;
  readonly spans: PopularitySpans;
  /** Sources of the candidates that the ranking is learned by; undefined where it is not learned. */
  readonly candidates?: Pick<ListSettings, 'popular' | 'collaborative' | 'cacheSize'> | undefined;
  readonly log: Logger;
}

export interface GenerationFitParts {
  readonly pool: WorkerPool;
  readonly trainer: PartTrainer;
  readonly loader: TrainingDataLoader;
  /** Told before everything is read that a generation knows. */
  readonly onReading: () => void;
  readonly als: AlsTraining;
  /** The model of another tool that is in place as of now; undefined for none. */
  readonly given: () => Promise<TakenGiven | undefined>;
  /** Plans lists with a generation, as of now. */
  readonly planOf: (generation: PlacedGeneration) => Promise<ListPlan>;
}

export interface Fitted {
  readonly generation: PlacedGeneration;
  /** Distinct pairs with positive feedback. */
  readonly positives: number;
  /** True when there was nothing new to learn, and the generation is the one that serves. */
  readonly unchanged: boolean;
}
