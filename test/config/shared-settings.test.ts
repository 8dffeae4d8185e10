import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { CONFIG_KEYS, holdsSecrets } from '../../src/config/keys.ts';
import { sharedSettings } from '../../src/config/shared-settings.ts';

const of = (text: string) => sharedSettings(parseConfig(text));

test('what lists go by is told where it is no default, each named table by itself', () => {
  expect(of('')).toEqual({});
  expect(of('[server]\nport = 1\n[recommend.collaborative]\nmodel_fit_period = "2h"')).toEqual({});
  expect(of('[recommend.popular]\npopular_window = "43200m"')).toEqual({});
  const first = of(`[recommend.data_source]
positive_feedback_types = ["like"]
[recommend.collaborative]
seed = 7
[vectors.v]
dimensions = 4
[placement.home]
max_per_label = 1
`);
  expect(Object.keys(first)).toEqual([
    'recommend.data_source.positive_feedback_types',
    'recommend.collaborative.seed',
    'placement.home',
    'vectors.v',
  ]);
  expect(of('[recommend.data_source]\npositive_feedback_types = ["like", "buy"]')).not.toEqual(
    of('[recommend.data_source]\npositive_feedback_types = ["like"]'),
  );
});

test('none of it is a secret', () => {
  const told = CONFIG_KEYS.filter(({ path }) => /^(recommend|placement|vectors|experiment)$/.test(path[0]!));
  expect(told.filter(({ schema }) => holdsSecrets(schema))).toEqual([]);
});
