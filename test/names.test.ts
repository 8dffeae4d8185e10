import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** Files that do not carry the name of a class of theirs, with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'cli/init/given.ts': 'the settings of the command line; the errors say what they lack',
  'config/config.ts': 'the configuration is plain data; the error says what is wrong with it',
  'dashboard/api.ts': 'functions that call the API; the error is what a call throws',
  'exchange/time-formats.ts': 'functions over forms of times; the order of dates is one part of them',
  'store/data-store.ts': 'interfaces of the store; the columns are what its reads fill',
  'store/lock/folder-lock.ts': 'functions that lock; the error says who holds the lock',
  'store/model-store.ts': 'an interface; the error is what its methods throw',
};

function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((path) => ({
    path,
    classes: Array.from(
      readFileSync(join(SRC, path), 'utf8').matchAll(/^export (?:default )?(?:abstract )?class (\w+)/gm),
      ([, name]) => name!,
    ),
  }))
  .filter(({ classes }) => classes.length > 0);

/** The files without a class whose name in kebab-case is the file's. */
const unlike = files
  .filter(({ path, classes }) => !classes.map(kebabCase).includes(basename(path).replace(/\.tsx?$/, '')))
  .map(({ path }) => path);

describe('the name of a class', () => {
  it('tells the file that it stands in', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(unlike.filter((path) => !(path in EXCEPTIONS))).toEqual([]);
  });

  it('has few exceptions, and none that is none', () => {
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(7);
    expect(Object.keys(EXCEPTIONS).filter((path) => !unlike.includes(path))).toEqual([]);
  });
});
