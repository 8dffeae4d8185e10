import type { Quality } from '../../domain/admin-schemas.ts';
import { nameOf } from '../format.ts';

type Names = readonly (readonly [name: string, meaning: string])[];

/** Measures of the ways to rank. */
const MEASURES: Names = [
  [
    'NDCG@10',
    'how many of the held-out items stand in the first ten, those further up counting more; 1 is perfect',
  ],
  ['±', 'half of the 95 % interval: a smaller difference may be chance'],
];

/** Ways to rank beside the scores of models. */
const OTHER_WAYS: Names = [
  [
    'popular 1h, 12h, 2d ...',
    'how often an item was liked within that time; "all" takes all these spans, "ever" no limit',
  ],
  [
    'item knn live',
    'what people with the same likes have liked of late, told by their feedback without any model',
  ],
  ['vectors', 'how near its vector is to those of what the user likes'],
  ['shared taste', 'how much more those of the same taste like a new item than anybody does'],
  ['age', 'how new an item is'],
  ['a blend of all', 'all of them, with weights learned on the held-out feedback'],
  [
    '... steadied by',
    'the mean of that blend and of the ways that did best alone: it varies less from fit to fit',
  ],
];

/** Explains the names of the ways to rank. */
export function RankingNames({ features }: { features: Quality['Features'] }) {
  const models: Names = features.map(({ Name, Meaning }) => [nameOf(Name), Meaning]);
  return (
    <details class="card">
      <summary>What the names mean</summary>
      <dl class="names">
        {[...MEASURES, ...models, ...OTHER_WAYS].map(([name, meaning]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
