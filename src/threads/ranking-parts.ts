import type { PartName } from '../model/registry.ts';
import { MODEL_FEATURES, type ModelFeature } from '../recommend/models/feature-names.ts';
import { modelOfSum } from '../recommend/models/sums-over-likes.ts';

/** The part that a feature of the ranking is the score of. */
export function partOfFeature(feature: ModelFeature): PartName {
  if (feature === 'collaborative') return 'als';
  return feature === 'click_through' ? 'click' : modelOfSum(feature);
}

/** The features that are scores of a part. */
export function featuresOf(part: PartName): readonly ModelFeature[] {
  return MODEL_FEATURES.filter((feature) => partOfFeature(feature) === part);
}
