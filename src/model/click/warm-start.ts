import { placeOf } from '../../memory/binary-search.ts';
import { type FeatureLayout, featureBlocks } from './features.ts';
import type { FmModel, FmRows } from './model.ts';

/**
 * The feature of a model that stands for the same as each feature of another layout, in the order of these; -1 where the
 * model has none that it learned.
 * @param rows which rows of the store those of the layout are; those of layout and model are the same where either is absent
 */
export function* featuresOf(
  model: FmModel,
  layout: FeatureLayout,
  rows: FmRows | undefined,
): Generator<number, void> {
  const blocks = featureBlocks(model);
  const f = model.vectors.length / blocks.featureCount;
  // A user or an item that nothing was learned of has parameters of zero.
  const learned = (feature: number) =>
    model.linear[feature] !== 0 || model.vectors[feature * f] !== 0 ? feature : -1;
  const placeIn = (own: Uint32Array | undefined, wanted: Uint32Array | undefined, count: number) =>
    own && wanted ? (row: number) => placeOf(own, wanted[row]!) : (row: number) => (row < count ? row : -1);
  const ofUser = placeIn(model.rows?.users, rows?.users, model.userCount);
  for (let row = 0; row < layout.userCount; row++) {
    const place = ofUser(row);
    yield place < 0 ? -1 : learned(place);
  }
  const ofItem = placeIn(model.rows?.items, rows?.items, model.itemCount);
  for (let row = 0; row < layout.itemCount; row++) {
    const place = ofItem(row);
    yield place < 0 ? -1 : learned(blocks.items + place);
  }
  yield* labelFeatures(layout.userLabels, model.userLabels, blocks.userLabels);
  yield* labelFeatures(layout.itemLabels, model.itemLabels, blocks.itemLabels);
}

function* labelFeatures(
  names: readonly string[],
  known: readonly string[],
  first: number,
): Generator<number, void> {
  const numbers = new Map(known.map((name, number) => [name, first + number]));
  for (const name of names) yield numbers.get(name) ?? -1;
}
