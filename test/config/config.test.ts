import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { type Config, defaultConfig, parseConfig } from '../../src/config/config.ts';
import { CONFIG_KEYS, encodeValue, namedTable } from '../../src/config/keys.ts';
import { printConfig } from '../../src/config/print.ts';
import { describeConfig, NO_ORIGIN } from '../../src/config/value-origins.ts';
import { ALS_DEFAULTS } from '../../src/model/als/settings.ts';
import { problemsOf } from './problems-of.ts';

function valueAt(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>((table, name) => (table as Record<string, unknown>)[name], config);
}

describe('defaults', () => {
  it('are those of Gorse 0.4 where it has the key', () => {
    const config = parseConfig('');
    expect(config.server).toMatchObject({
      host: '127.0.0.1',
      port: 8087,
      api_key: '',
      default_n: 10,
      clock_error: 5000,
      cache_expire: 10_000,
      auto_insert_user: true,
      auto_insert_item: true,
    });
    expect(config.database).toEqual({
      compact_free_share: 0.5,
      data_store: 'lmdb://./data',
      replica: 'lmdb://./replica',
      cache_store: 'lmdb://./data/cache',
      model_store: '',
      sync: 'disk',
    });
    expect(config.recommend).toMatchObject({
      cache_size: 100,
      cache_expire: 72 * 3_600_000,
      data_source: {
        positive_feedback_types: [],
        read_feedback_types: [],
        positive_feedback_ttl: 0,
        item_ttl: 0,
      },
      popular: { popular_window: 720 * 3_600_000 },
      item_neighbors: { neighbor_type: 'auto', enable_index: true, index_recall: 0.8 },
      user_neighbors: { neighbor_type: 'auto', enable_index: true, index_recall: 0.8 },
      replacement: {
        enable_replacement: false,
        positive_replacement_decay: 0.8,
        read_replacement_decay: 0.6,
      },
      online: { fallback_recommend: ['latest'], num_feedback_fallback_item_based: 10 },
    });
    expect(config.recommend.collaborative).toMatchObject({
      model_fit_period: 3_600_000,
      model_search_period: 360 * 60_000,
      model_search_epoch: 100,
      model_search_trials: 10,
    });
    expect(config.recommend.offline).toEqual({
      check_recommend_period: 60_000,
      refresh_recommend_period: 86_400_000,
      active_user_ttl: 2_592_000_000,
      enable_latest_recommend: false,
      enable_popular_recommend: false,
      enable_user_based_recommend: false,
      enable_item_based_recommend: false,
      enable_collaborative_recommend: true,
      enable_click_through_prediction: true,
      explore_recommend: { popular: 0, latest: 0 },
    });
  });

  it('are one per key, each with a description', () => {
    for (const { path, schema } of CONFIG_KEYS) {
      expect(schema.default, path.join('.')).toBeDefined();
      expect(schema.description, path.join('.')).toMatch(/\.$/);
    }
  });

  it('cannot be altered, at any depth, through one configuration or another', () => {
    const config = defaultConfig();
    expect(() => ((config.server as { port: number }).port = 1)).toThrow(TypeError);
    expect(() => (config.recommend.online.fallback_recommend as string[]).push('popular')).toThrow(TypeError);
    expect(parseConfig('').recommend.online.fallback_recommend).toEqual(['latest']);
  });

  it('give way to overrides, whose durations are milliseconds', () => {
    const config = defaultConfig({ server: { port: 0, clock_error: 1500 }, recommend: { cache_size: 7 } });
    expect([
      config.server.port,
      config.server.clock_error,
      config.server.default_n,
      config.recommend.cache_size,
    ]).toEqual([0, 1500, 10, 7]);
    expect(() => defaultConfig({ server: { port: -1 } })).toThrow(/server\.port/);
  });
});

describe('the file', () => {
  it('sets keys, durations with units and the exploration as an inline table', () => {
    const config = parseConfig(`
[server]
clock_error = "1m30s"
[recommend.data_source]
positive_feedback_types = ["like", "star"]
[recommend.offline]
explore_recommend = { popular = 0.1, latest = 0.2 }
[recommend.online]
fallback_recommend = ["collaborative", "user_based", "item_based", "popular", "latest"]
`);
    expect(config.server.clock_error).toBe(90_000);
    expect(config.recommend.data_source.positive_feedback_types).toEqual(['like', 'star']);
    expect(config.recommend.offline.explore_recommend).toEqual({ popular: 0.1, latest: 0.2 });
    expect(config.recommend.online.fallback_recommend).toHaveLength(5);
  });

  it.each([
    ['[server]\nprot = 1', /^server\.prot: unknown key; expected one of host, port/],
    ['[sever]\nport = 1', /^sever: unknown key; expected one of database, server/],
    ['[server]\n__proto__ = 1', /^server\.__proto__: unknown key/],
    ['server = 1', /^server: expected a table, got 1$/],
    ['[server]\nport = "8087"', /^server\.port: expected an integer from 0 to 65535, got "8087"$/],
    ['[server]\nport = 80.5', /^server\.port: expected an integer/],
    ['[server]\nclock_error = 5', /^server\.clock_error: expected a duration/],
    ['[server]\nclock_error = "5"', /^server\.clock_error: expected a duration .*, got "5"$/],
    [
      '[recommend.collaborative]\nmodel_fit_period = "0s"',
      /model_fit_period: expected a duration .* at least 1ms/,
    ],
    // Timers that cannot hold it would end at once.
    ...['body_timeout', 'send_timeout', 'keep_alive_timeout', 'shutdown_timeout'].map(
      (key) =>
        [`[server]\n${key} = "600h"`, /expected a duration .* at most 576h0m0s, got "600h"$/] as [
          string,
          RegExp,
        ],
    ),
    ...['0s', '600h'].map(
      (period) =>
        [`[telemetry]\nmetrics_period = "${period}"`, /expected a duration .* at least 1ms/] as [
          string,
          RegExp,
        ],
    ),
    ['[dashboard]\nimage = "*"', /image: expected a template that begins with .*, got "\*"$/],
    ['[telemetry]\notlp_url = "*"', /otlp_url: expected an address such as .*, got "\*"$/],
    ['[webhooks]\nurl = "hook?key=1"', /^webhooks\.url: expected an address .*, got something else$/],
    ['[database]\nsync = "never"', /^database\.sync: expected one of "disk", "commit", got "never"$/],
    ...[
      'models',
      's3://models',
      's3://Models?region=eu-central-1',
      's3://models?regions=eu-central-1',
      's3://models?region=eu-central-1&endpoint=minio:9000',
      's3://models?region=eu-central-1&endpoint=http://key:s3cret@minio:9000',
      's3://key:s3cret/1@models?region=eu-central-1',
      's3://key:s3cret%@models?region=eu-central-1',
    ].map(
      (dsn) =>
        [
          `[database]\ndata_store = "postgres://db/shop"\nmodel_store = "${dsn}"`,
          /^database\.model_store: expected a bucket such as "s3:(?!.*s3cret)/,
        ] as [string, RegExp],
    ),
    [
      '[database]\nmodel_store = "s3://models?region=eu-central-1"',
      /^database\.model_store: expected "" with database\.data_store in a folder/,
    ],
    ['[database]\ndata_store = "mysql://x"', /^database\.data_store: expected a store such as "lmdb:/],
    [
      '[recommend.online]\nfallback_recommend = ["random"]',
      /fallback_recommend: expected a list .*"item_based"/,
    ],
    [
      '[recommend.replacement]\nread_replacement_decay = 1.5',
      /read_replacement_decay: expected a number from 0 to 1/,
    ],
    ['[recommend.replacement]\nread_replacement_decay = nan', /expected a number from 0 to 1, got NaN$/],
    ['[recommend.data_source]\nread_feedback_types = "read"', /read_feedback_types: expected a list/],
    ['[recommend.data_source]\nread_feedback_types = [""]', /read_feedback_types: expected a list/],
    [
      '[recommend.offline.explore_recommend]\npopular = 0.7\nlatest = 0.7',
      /explore_recommend: .* together at most 1/,
    ],
    ['[server]\nmax_n = 5', /^server\.default_n: expected at most server\.max_n \(5\), got 10$/],
    ['[server', /^not TOML: /],
  ])('is refused: %j', (toml, message) => {
    const problems = problemsOf(toml);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(message);
  });

  it('is refused with all of its problems at once', () => {
    expect(
      problemsOf('[server]\nport = -1\nx = 1\n[log]\nlevel = "loud"', { FURZE_SERVER_MAX_N: '' }),
    ).toHaveLength(4);
  });

  it('never shows a secret when it refuses one', () => {
    expect(problemsOf('[server]\napi_key = ["hush"]')).toEqual([
      'server.api_key: expected a key of printable ASCII without blanks around it, or "" for none, got something else',
    ]);
  });

  it.each([
    'api_key = "hush"hush',
    'api_key = hush-hush',
    'api_key = "hush\napi_key = "hush"',
    '[[hush',
    'hush',
  ])('never shows a line that is not TOML: %j', (line) => {
    const problems = problemsOf(`[server]\nport = 1\n${line}\n# hush\n`);
    expect(problems).toEqual([expect.stringMatching(/^not TOML: line \d+, column \d+: [a-z]/)]);
    expect(problems[0]).not.toContain('hush');
  });

  it.each(['schlüssel', ' hush', 'hush ', 'hu\tsh', '\u00a0hush'])(
    'refuses a key that cannot be sent: %j',
    (key) => {
      for (const name of ['api_key', 'read_only_api_key', 'api_keys']) {
        const value = JSON.stringify(name === 'api_keys' ? [key] : key);
        const problems = problemsOf(`[server]\n${name} = ${value}`);
        expect(problems[0]).toMatch(
          new RegExp(`^server\\.${name}: expected a .*ASCII.*, got something else$`),
        );
      }
    },
  );

  it('refuses a read-only key that stands alone or may write', () => {
    expect(problemsOf('[server]\nread_only_api_key = "r"')).toEqual([
      expect.stringMatching(/api_keys beside it/),
    ]);
    expect(problemsOf('[server]\napi_keys = ["r"]\nread_only_api_key = "r"')).toEqual([
      expect.stringMatching(/not also one that may write/),
    ]);
    const config = parseConfig('[server]\napi_keys = ["a", "b c"]\nread_only_api_key = "r"');
    expect(config.server.api_keys).toEqual(['a', 'b c']);
    expect(printConfig(config)).not.toMatch(/"(a|b c|r)"/);
  });

  it('takes origins and nothing else for cors_origins', () => {
    expect(
      parseConfig('[server]\ncors_origins = ["https://shop.example:8443", "*"]').server.cors_origins,
    ).toHaveLength(2);
    expect(problemsOf('[server]\ncors_origins = ["shop.example"]')).toEqual([
      expect.stringMatching(/^server\.cors_origins: .*an origin such as "https:/),
    ]);
  });

  it('takes an address to listen on without blanks and controls', () => {
    for (const host of ['::', 'fe80::1%eth0', 'furze.internal', '0.0.0.0'])
      expect(parseConfig(`[server]\nhost = "${host}"`).server.host).toBe(host);
    for (const host of ['', 'a b', 'a\\u0000b', 'a\\n', '\\u007f'])
      expect(problemsOf(`[server]\nhost = "${host}"`)).toEqual([
        expect.stringMatching(/^server\.host: .*a host name or an address without blanks/),
      ]);
  });

  it('takes host names and nothing else for hosts', () => {
    const hosts = ['furze.internal', '*', '10.0.0.7', 'fd00::7'];
    expect(parseConfig(`[server]\nhosts = ${JSON.stringify(hosts)}`).server.hosts).toEqual(hosts);
    for (const host of ['furze:8087', 'http://furze', 'a b', ''])
      expect(problemsOf(`[server]\nhosts = ["${host}"]`)).toEqual([
        expect.stringMatching(/^server\.hosts: .*a host name without a port/),
      ]);
  });
});

it('what repeats is a table of types, printed as it is read', () => {
  const line = 'repeated = { purchase = "count", "video view" = "count" }';
  const config = parseConfig(`[recommend.data_source]\n${line}`);
  expect(config.recommend.data_source.repeated).toEqual({ purchase: 'count', 'video view': 'count' });
  expect(printConfig(config)).toContain(`\n${line}\n`);
  expect(problemsOf('[recommend.data_source]\nrepeated = { purchase = "last" }')).toEqual([
    'recommend.data_source.repeated: expected a table of feedback types, as in { purchase = "count" }, got {"purchase":"last"}',
  ]);
});

describe('the environment', () => {
  it('goes before the file', () => {
    const config = parseConfig('[server]\nport = 1\napi_key = "file"', {
      FURZE_SERVER_API_KEY: 'environment',
      FURZE_SERVER_PORT: '2',
      FURZE_SERVER_AUTO_INSERT_USER: 'false',
      FURZE_RECOMMEND_CACHE_EXPIRE: '1h30m',
      FURZE_RECOMMEND_DISCOVERY: '0.5',
      FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like, star',
      FURZE_RECOMMEND_OFFLINE_EXPLORE_RECOMMEND_POPULAR: '0.25',
      FURZE_RECOMMEND_DATA_SOURCE_REPEATED: 'purchase=count, listen=count',
      PATH: '/bin',
    });
    expect(config.server).toMatchObject({ port: 2, api_key: 'environment', auto_insert_user: false });
    expect(config.recommend).toMatchObject({ cache_expire: 5_400_000, discovery: 0.5 });
    for (const [env, message] of [
      ['auto', undefined],
      ['1.5', 'recommend.discovery: expected a number from 0 to 1, or "auto", got 1.5'],
      ['much', 'recommend.discovery: expected a number from 0 to 1, or "auto", got "much"'],
    ] as const)
      expect(problemsOf('', { FURZE_RECOMMEND_DISCOVERY: env })[0] ?? undefined).toEqual(
        message && expect.stringContaining(message.slice(20)),
      );
    expect(config.recommend.data_source.repeated).toEqual({ purchase: 'count', listen: 'count' });
    expect(config.recommend.data_source.positive_feedback_types).toEqual(['like', 'star']);
    expect(config.recommend.offline.explore_recommend.popular).toBe(0.25);
  });

  it('warns of unknown variables and goes on', () => {
    const warnings: string[] = [];
    parseConfig('', { FURZE_SEVER_PORT: '1', FURZE_X: '', FURZE_PORT: '8087' }, (line) =>
      warnings.push(line),
    );
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toMatch(/^FURZE_SEVER_PORT: unknown environment variable, not used/);
  });

  it('does not look at what Kubernetes sets for services named furze and furze-server', () => {
    const injected = (name: string) => ({
      [`${name}_SERVICE_HOST`]: '10.0.0.11',
      [`${name}_SERVICE_PORT`]: '8087',
      [`${name}_SERVICE_PORT_HTTP`]: '8087',
      [`${name}_PORT`]: 'tcp://10.0.0.11:8087',
      [`${name}_PORT_8087_TCP`]: 'tcp://10.0.0.11:8087',
      [`${name}_PORT_8087_TCP_PROTO`]: 'tcp',
      [`${name}_PORT_8087_TCP_PORT`]: '8087',
      [`${name}_PORT_8087_TCP_ADDR`]: '10.0.0.11',
    });
    const warnings: string[] = [];
    const env = { ...injected('FURZE'), ...injected('FURZE_SERVER'), FURZE_SERVER_HOST: '0.0.0.0' };
    const config = parseConfig('', env, (line) => warnings.push(line));
    expect(warnings).toEqual([]);
    expect(config.server).toMatchObject({ host: '0.0.0.0', port: 8087 });
    const origin = { ...NO_ORIGIN, text: '[server]\nmax_n = 5', env, flags: ['FURZE_SERVER_DEFAULT_N'] };
    const sources = new Map(describeConfig(config, origin).map(({ Key, Source }) => [Key, Source]));
    expect(
      ['port', 'host', 'max_n', 'default_n', 'api_key'].map((name) => sources.get(`server.${name}`)),
    ).toEqual(['default', 'environment', 'file', 'command line', 'default']);
  });

  it('has a name of its own for every key', () => {
    expect(new Set(CONFIG_KEYS.map(({ variable }) => variable)).size).toBe(CONFIG_KEYS.length);
  });

  it.each([
    ['FURZE_SERVER_PORT', 'many', /^FURZE_SERVER_PORT \(server\.port\): expected an integer .*, got "many"$/],
    ['FURZE_SERVER_PORT', '', /^FURZE_SERVER_PORT \(server\.port\): expected an integer/],
    ['FURZE_SERVER_AUTO_INSERT_USER', 'yes', /expected true or false, got "yes"$/],
  ])('is refused: %s=%s', (name, value, message) => {
    expect(problemsOf('', { [name]: value })).toEqual([expect.stringMatching(message)]);
  });
});

describe('the model', () => {
  it('has the same defaults by configuration as by itself', () => {
    const { factors, epochs, regularization, regularization_exponent, unobserved_weight, seed } =
      defaultConfig().recommend.collaborative;
    expect(ALS_DEFAULTS).toMatchObject({
      factors,
      epochs,
      regularization,
      regularizationExponent: regularization_exponent,
      unobservedWeight: unobserved_weight,
      seed,
    });
  });
});

describe('printing', () => {
  it('masks secrets and reads back as the same configuration', () => {
    const config = defaultConfig({ server: { api_key: 'hush', clock_error: 1234 } });
    const text = printConfig(config);
    expect(text).not.toContain('hush');
    const { api_key, ...rest } = parseConfig(text).server;
    expect(api_key).toBe('********');
    const { api_key: _, ...given } = config.server;
    expect(rest).toEqual(given);
    expect(parseConfig(text).recommend).toEqual(config.recommend);
  });

  it('keeps every value that a key can take', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }).map((names) => [...new Set(names)]),
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (types, timeMs, recall) => {
          const config = defaultConfig({
            server: { clock_error: timeMs },
            recommend: {
              data_source: { read_feedback_types: types },
              item_neighbors: { index_recall: recall },
            },
          });
          expect(parseConfig(printConfig(config))).toEqual(config);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('writes every key of the file in its own form', () => {
    const config = defaultConfig();
    const file = parse(printConfig(config)) as unknown as Config;
    for (const { path, schema } of CONFIG_KEYS) {
      // What has no entry stands nowhere, but for a table of its own.
      const written = namedTable(schema) === undefined ? valueAt(file, path) : (valueAt(file, path) ?? {});
      expect(written, path.join('.')).toEqual(encodeValue(schema, valueAt(config, path)));
    }
  });
});
