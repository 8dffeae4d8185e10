import { expect, it } from 'vitest';
import { defaultConfig } from '../../../src/config/config.ts';
import { Placements } from '../../../src/recommend/placements/placements.ts';
import { RulesInEffect } from '../../../src/recommend/placements/rules-in-effect.ts';

const variants = [
  { name: 'now', share: 0.5 },
  { name: 'short', share: 0.5, override: { length: 1 } },
];

/** Rules over journals of the last settings of each; null for one that was taken away. */
function rulesOver(kept: Readonly<Record<string, object | null>>, placement: object = {}) {
  const troubles: string[] = [];
  const journalOf = (name: string) => [
    { number: 1, text: JSON.stringify({ at: '', by: '', mark: '', settings: kept[name] ?? undefined }) },
  ];
  const config = defaultConfig({ placement: placement as never });
  const reads = { journal: journalOf, journalNames: () => Object.keys(kept) };
  const rules = new RulesInEffect(config, reads, (message) => troubles.push(message));
  return { rules, troubles };
}

it('end an experiment whose placement is gone, by the file or by another node, and tell why', () => {
  const kept = {
    'experiment/lost': { placement: 'home', variants },
    'experiment/runs': { placement: 'side', variants },
    'placement/home': null,
    'placement/side': { length: 3 },
  };
  const { rules, troubles } = rulesOver(kept);
  expect(Object.keys(rules.current.experiment)).toEqual(['runs']);
  expect(Object.keys(rules.current.placement)).toEqual(['side']);
  const reason = 'experiment.lost.placement: expected a placement: "side"; got "home"';
  expect(rules.reasonAgainst({ kind: 'experiment', name: 'lost' })).toBe(reason);
  expect(troubles).toEqual([`The experiment "lost" of the dashboard is not in effect: ${reason}`]);
  // Asked for, the placement is unknown, and the other one goes on.
  const placements = new Placements(rules.current);
  expect(() => placements.of('home', 'u')).toThrow('There is no placement "home"; there are "side".');
  expect(placements.of('side', 'u').claims.edition).toBeDefined();
  // Once the file has it, the experiment goes on.
  expect(Object.keys(rulesOver(kept, { home: {} }).rules.current.experiment).sort()).toEqual([
    'lost',
    'runs',
  ]);
});

it('leave out what does not fit the configuration any more, and keep the rest', () => {
  const { rules } = rulesOver({
    'placement/home': { length: 2, pins: [{ item: 'a', place: 9 }] },
    'placement/side': { filter: { price: 3 } },
    'placement/rest': { length: 1 },
    'experiment/shares': { placement: 'rest', variants: [variants[0], { name: 'b', share: 0.6 }] },
  });
  expect(Object.keys(rules.current.placement)).toEqual(['rest']);
  expect(rules.current.experiment).toEqual({});
  const against = (kind: 'placement' | 'experiment', name: string) => rules.reasonAgainst({ kind, name });
  expect(against('placement', 'home')).toContain('placement.home.pins[0].place: expected at most');
  expect(against('placement', 'side')).toContain('placement.side.filter.price: unknown condition');
  expect(against('experiment', 'shares')).toContain('expected shares that sum up to 1, got 1.1');
  expect(against('placement', 'rest')).toBeUndefined();
});
