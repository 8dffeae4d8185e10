import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultConfig, parseConfig } from '../../src/config/config.ts';
import { CONFIG_KEYS, namedTable } from '../../src/config/keys.ts';
import { configTemplate } from '../../src/config/print.ts';
import { configReference } from '../../src/config/reference.ts';
import { describeConfig, NO_ORIGIN } from '../../src/config/value-origins.ts';

describe('the commented configuration file', () => {
  it('holds the defaults', () => {
    expect(parseConfig(configTemplate())).toEqual(defaultConfig());
  });

  it('names every key', () => {
    for (const { path, schema } of CONFIG_KEYS) {
      const named = namedTable(schema)?.properties;
      // Tables with names of the file's own stand there as comments.
      const lines = named ? Object.keys(named).map((key) => `# ${key}`) : [path.at(-1)];
      for (const line of lines) expect(configTemplate()).toMatch(new RegExp(`^${line} = `, 'm'));
    }
  });

  it('is furze.toml; write it with npm run config:template after a change', () => {
    expect(readFileSync(new URL('../../furze.toml', import.meta.url), 'utf8')).toBe(configTemplate());
  });
});

describe('the reference of the configuration', () => {
  it('is docs/configuration.md; write it with npm run config:template after a change', () => {
    const file = new URL('../../docs/configuration.md', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(configReference());
  });

  it('has a row for every key, with default and variable', () => {
    for (const { path, variable, schema } of CONFIG_KEYS) {
      const named = namedTable(schema)?.properties;
      const keys = named ? Object.keys(named) : [path.at(-1)];
      const shown = named ? `${variable} as JSON of all` : variable;
      for (const key of keys)
        expect(configReference()).toMatch(new RegExp(`^\\| \`${key}\` \\| .+ \\| \`${shown}\` \\|$`, 'm'));
    }
  });
});

describe('the settings in effect', () => {
  it('have where nothing is set the values that are told as defaults, a written duration among them', () => {
    for (const { Key, Value, Default } of describeConfig(defaultConfig(), NO_ORIGIN))
      expect(Value, Key).toBe(Default);
    const text = '[recommend]\ncache_expire = "72h"\n[recommend.popular]\npopular_window = "12h"\n';
    const told = describeConfig(parseConfig(text, {}), { ...NO_ORIGIN, file: 'furze.toml', text });
    const of = (key: string) => told.find(({ Key }) => Key === key)!;
    expect(of('recommend.cache_expire')).toMatchObject({ Value: of('recommend.cache_expire').Default });
    expect(of('recommend.popular.popular_window')).toMatchObject({ Value: '"12h0m0s"', Source: 'file' });
  });

  it('that a command has set by itself come from the command line', () => {
    const { server, ...rest } = defaultConfig();
    const told = describeConfig({ ...rest, server: { ...server, port: 1 } }, NO_ORIGIN);
    const sourceOf = (key: string) => told.find(({ Key }) => Key === key)?.Source;
    expect([sourceOf('server.port'), sourceOf('server.host')]).toEqual(['command line', 'default']);
  });
});
