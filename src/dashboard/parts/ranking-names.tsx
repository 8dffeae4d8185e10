/** What the ways to rank are called, and what each goes by. */
const NAMES: readonly (readonly [name: string, meaning: string])[] = [
  [
    'NDCG@10',
    'how many of the held-out items stand in the first ten, those further up counting more; 1 is perfect',
  ],
  ['±', 'half of the 95 % interval: a smaller difference may be chance'],
  ['collaborative', 'matrix factorization (ALS): users and items as vectors'],
  ['click through', 'factorization machine over users, items and their labels'],
  ['slim', 'SLIM: weights from item to item, learned so that they foretell what users have'],
  ['item knn', 'items that the same users like'],
  ['sequence', 'what users went on to after the items of this one; "recent" looks at the latest items alone'],
  [
    'popular 12h, 2d, 7d ...',
    'how often an item was liked within that time; "all" takes all these spans, "ever" no limit',
  ],
  ['age', 'how new an item is'],
  ['a + b', 'a blend, with weights learned on the held-out feedback'],
];

export function WhatNamesMean() {
  return (
    <details class="card">
      <summary>What the names mean</summary>
      <dl class="names">
        {NAMES.map(([name, meaning]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
