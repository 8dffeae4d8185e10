import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { CONFIG_KEYS } from '../src/config/keys.ts';
import { COLUMN_NAMES, plainName } from '../src/exchange/column-names.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  ...readdirSync(join(ROOT, 'bench/notes')).map((name) => join('bench/notes', name)),
];
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The anchors of a page's headings, as code hosts make them. */
function anchors(text: string): string[] {
  return withoutBlocks(text)
    .split('\n')
    .filter((line) => /^#{1,6} /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '');
}

/** What stands in the blocks of code and between backticks. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, language = '']) => ['', 'sh', 'bash'].includes(language))
    .flatMap(([, , block = '']) => block.replaceAll('\\\n', ' ').split('\n'));
  return [...blocks, ...[...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)];
}

describe.each(FILES)('%s', (path) => {
  const text = textOf(path);

  it('links to files and headings that are there', () => {
    const links = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    const dead = links.filter((link) => {
      if (/^(https?|mailto):/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchors(textOf(target)).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('names scripts that there are', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = codeOf(text).flatMap((line) =>
      [...line.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('names tests that there are', () => {
    const named = [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names commands and options that there are', async () => {
    const { commands } = await createProgram(['help'], {});
    const wrong: string[] = [];
    for (const line of codeOf(text)) {
      // Up to what ends a command in a shell.
      for (const [, name, rest = ''] of line.matchAll(
        /(?:^|[|;&(] ?|npx |npm start -- )furze ([a-z]+)([^|;&#)]*)/g,
      )) {
        const command = commands.find((each) => each.name() === name);
        if (command === undefined) {
          wrong.push(line);
          continue;
        }
        const options = [command, ...command.commands].flatMap((each) => each.options);
        const known = options.flatMap(({ long, short }) => [long, short]);
        const given = [...rest.matchAll(/(?:^|\s)(--?[a-z][\w-]*)/g)].map(([, option]) => option!);
        if (given.some((option) => option !== '--help' && !known.includes(option))) wrong.push(line);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('names configuration keys that there are', () => {
    // What was long ago may be gone since, and Gorse has keys of its own.
    if (['CHANGELOG.md', 'docs/migration.md'].includes(path)) return;
    const keys = CONFIG_KEYS.map(({ path: parts }) => parts.join('.'));
    const named = codeOf(text).flatMap((code) =>
      [...code.matchAll(/^\[([a-z_.]+)\] ?([a-z_]+)$/g)].map(([, section, key]) => `${section}.${key}`),
    );
    expect(named.filter((key) => !keys.includes(key))).toEqual([]);
  });
});

it('docs/import.md lists the names of columns that are understood', () => {
  const rows = [...textOf('docs/import.md').matchAll(/^\| `(\w+)` \| ([^|;]+)/gm)];
  const plain = (names: string) => names.split(',').map((name) => plainName(name));
  const listed = Object.fromEntries(rows.map(([, field, names]) => [field, plain(names!).sort()]));
  const known = Object.entries(COLUMN_NAMES).map(([field, names]) => [field, names.map(plainName).sort()]);
  expect(listed).toEqual(Object.fromEntries(known));
});
