import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { configTemplate, printConfig } from '../../src/config/print.ts';
import { problemsOf } from './problems-of.ts';

const HOME = '[placement.home]\nlength = 9\n[placement.side]\n';
const TWO = '{ name = "now", share = 0.5 }, { name = "few", share = 0.5, override = { max_per_label = 1 } }';
const experiment = (lines: string) => `${HOME}[experiment.x]\n${lines}`;
const variants = (list: string) => experiment(`placement = "home"\nvariants = [${list}]`);

it('takes for a measure what makes feedback positive from a value on', () => {
  const types = '[recommend.data_source]\npositive_feedback_types = ["rating>=4=2"]\n';
  const measured = experiment(`placement = "home"\nvariants = [${TWO}]\nmeasure = "rating>=4"`);
  expect(parseConfig(types + measured).experiment.x!.measure).toBe('rating>=4');
});

it('reads experiments, and writes them so that they are read again', () => {
  const config = parseConfig(experiment(`placement = "home"\nvariants = [${TWO}]\ntraffic = 0.5`));
  expect(config.experiment.x).toMatchObject({
    ...{ placement: 'home', traffic: 0.5, counts: 'users', horizon_hours: 24, alpha: 0.05 },
    variants: [{ name: 'now' }, { name: 'few', override: { max_per_label: 1 } }],
  });
  expect(parseConfig(printConfig(config))).toEqual(config);
  expect(parseConfig(configTemplate(config))).toEqual(config);
});

it.each([
  [
    experiment(`placement = "hme"\nvariants = [${TWO}]`),
    'x.placement: expected a placement: "home", "side"; got "hme"',
  ],
  [
    `[experiment.x]\nplacement = "home"\nvariants = [${TWO}]`,
    'x.placement: expected a placement: one that is configured, of which there is none',
  ],
  [
    experiment(`placement = "home"\nvariants = [${TWO}]\nmeasure = "rating>=4"`),
    'x.measure: expected a feedback type, or one with a value as in positive_feedback_types (none), got "rating>=4"',
  ],
  [experiment('placement = "home"'), 'x.variants: expected at least two, got 0'],
  [variants('{ name = "a", share = 0.5 }, { name = "b", share = 0.4 }'), 'shares that sum up to 1, got 0.9'],
  [
    variants('{ name = "a", share = 0.5 }, { name = "a", share = 0.5 }'),
    'x.variants[1].name: expected one of its own',
  ],
  [
    variants('{ name = "a.b", share = 0.5 }, { name = "b", share = 0.5 }'),
    'x.variants: expected a list of variants',
  ],
  [
    variants('{ name = "a", share = 1 }, { name = "b", share = 0 }'),
    'x.variants: expected a list of variants',
  ],
  [
    variants(TWO.replace('max_per_label', 'max_labels')),
    'x.variants[1].override.max_labels: unknown key; expected one',
  ],
  [
    variants(TWO.replace('= 1 }', '= -1 }')),
    'x.variants[1].override.max_per_label: expected an integer from 0',
  ],
  [
    variants(TWO.replace('max_per_label = 1', 'pins = [{ item = "i", place = 10 }]')),
    'x.variants[1].override.pins[0].place: expected at most',
  ],
  [experiment(`placement = "home"\nvariants = [${TWO}]\nstart = "soon"`), 'x.start: expected a time such as'],
  [variants(`${TWO}, { name = "more", share = 0.1 }`), 'shares that sum up to 1, got 1.1'],
  [
    `${variants(TWO)}\nmethod = "shuffle"`,
    'x.method: expected one of "split", "interleave", "estimate", got "shuffle"',
  ],
  [
    `${variants(`{ name = "now", share = 0.4 }, { name = "b", share = 0.3 }, { name = "c", share = 0.3 }`)}\nmethod = "interleave"`,
    'x.variants: expected two with method "interleave", got 3',
  ],
  [
    `${variants(TWO)}\nmethod = "interleave"\nguardrails = ["buy"]`,
    'x.guardrails: expected none with method "interleave", got ["buy"]',
  ],
  [
    `${variants(TWO)}\nmethod = "estimate"`,
    'x.placement: expected one with explore above 0 for method "estimate"',
  ],
  [
    // The first variant is what is shown: the second's exploration is none.
    `${variants(TWO.replace('max_per_label = 1', 'explore = 0.1'))}\nmethod = "estimate"`,
    'x.placement: expected one with explore above 0 for method "estimate"',
  ],
  [
    variants(TWO.replace('max_per_label = 1', 'explore = 0.6')),
    'x.variants[1].override.explore: expected a number from 0 to 0.5, got 0.6',
  ],
  [
    variants(TWO.replace('max_per_label = 1', 'filter = { and = [{ label = "a" }, { price = 3 }] }')),
    'x.variants[1].override.filter.and[1].price: unknown condition',
  ],
  [
    variants(TWO.replace('max_per_label = 1', 'kind = "continue"')),
    'x.variants[1].override.begun: expected feedback types, as kind is "continue", got none',
  ],
  [
    `${variants(TWO)}\n[experiment.y]\nplacement = "home"\nvariants = [${TWO}]`,
    'y.placement: expected one that no other experiment varies, as experiment.x does',
  ],
])('refuses %s', (toml, problem) => {
  expect(problemsOf(toml).join('\n')).toContain(problem);
});

it('takes two rankings on the same users, and an estimate where the first one explores', () => {
  for (const method of ['interleave', 'estimate']) {
    const explored = `placement = "side"\nvariants = [{ name = "now", share = 0.5, override = { explore = 0.1 } }, { name = "b", share = 0.5 }]`;
    expect(parseConfig(experiment(`${explored}\nmethod = "${method}"`)).experiment.x?.method).toBe(method);
  }
});
