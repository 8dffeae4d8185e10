import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import { tempFolder } from '../store/helpers.ts';
import { Furze } from './run-furze.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
].filter((name) => name.endsWith('.md'));
const DOCUMENTED_PORT = '8087';
const TIMEOUT_MS = 580_000;

/** A block of commands of a page. */
interface Block {
  readonly name: string;
  readonly text: string;
  /** What it prints, in a block without a language right behind it: `...` stands for anything. */
  readonly output: string | undefined;
  /** Why it is not run, as the page has it in a comment before the block. */
  readonly reason: string | undefined;
}

const blocks = PAGES.flatMap((page): Block[] =>
  [
    ...readFileSync(join(ROOT, page), 'utf8').matchAll(
      /(?:<!-- not run: (.*) -->\n)?^```sh\n([\s\S]*?)^```(?:\n\n```\n([\s\S]*?)^```)?/gm,
    ),
  ].map(([, reason, text = '', output], at) => ({ name: `${page} ${at + 1}`, text, output, reason })),
);

/** What stands in the folder where a page's commands are run, and the configuration of the service beside them. */
interface Scene {
  readonly config?: string;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** A command that sets the scene. */
  readonly first?: string;
  /** Commands that end before the service begins, told by how they begin. */
  readonly before?: RegExp;
  /** Replacements beside that of the port. */
  readonly replaced?: (text: string, address: string) => string;
}

const RATINGS = 'user,item,rating,time\nann,tea,5,1714521600\nann,cocoa,2,1714608000\nbob,tea,4,1714694400\n';
const VECTOR = '{"ItemId":"film-1","Vector":[0.12,-0.5,0.83]}\n';

/** By block; one without an entry is run beside a service on an empty folder. */
const SCENES: Readonly<Record<string, Scene>> = {
  'docs/import.md 1': {
    files: { 'products.csv': 'id,title\ntea,Tea\ncocoa,Cocoa\n', 'clicks.csv.gz': gzipSync(RATINGS) },
    before: /^furze import (items|feedback .* --positive)/,
  },
  'docs/vectors.md 1': {
    config: '[vectors.text]\ndimensions = 3\nsimilarity = "cosine"\n',
    files: { items: 'film-1' },
  },
  'docs/vectors.md 2': {
    config: '[vectors.text]\ndimensions = 3\n',
    files: {
      'items.ndjson': '{"ItemId":"film-1"}\n',
      'embeddings.ndjson.gz': gzipSync(VECTOR),
      'embeddings.npy': npyOf([0.12, -0.5, 0.83]),
      'ids.txt': 'film-1\n',
    },
    first:
      'furze import items items.ndjson\nfurze import vectors embeddings.ndjson.gz --space text\n' +
      'furze export vectors --space text --format parquet -o embeddings.parquet',
    before: /^furze/,
  },
  'docs/vectors.md 3': {
    config: '[vectors.text]\ndimensions = 3\n',
    files: { items: 'film-1', vectors: VECTOR },
  },
  'docs/operations.md 1': {
    before: /restore/,
    replaced: (text, address) =>
      text.replaceAll('https://furze.example.com', address).replaceAll('/backups/', 'backups/'),
  },
  'docs/dashboard.md 1': { replaced: (text) => text.replace('/var/lib/furze', './data') },
  'docs/clients.md 1': { config: '[server]\napi_key = "key"\n' },
};

test('every block of commands is run, or says in the source of its page why not', () => {
  for (const name of Object.keys(SCENES)) expect(blocks.map((block) => block.name)).toContain(name);
  for (const { name, reason } of blocks)
    if (reason !== undefined) expect(SCENES, name).not.toHaveProperty([name]);
  const run = blocks.filter(({ reason }) => reason === undefined);
  expect(run.length).toBeGreaterThan(5);
  expect(run.filter(({ output }) => output !== undefined).length).toBeGreaterThan(3);
});

test('no commands stand in a block of another language, where they would not be run', () => {
  const others = PAGES.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
      .filter(([, language, text = '']) => language !== 'sh' && /^(npm|npx|furze|curl|docker) /m.test(text))
      .map(() => page),
  );
  expect(others).toEqual([]);
});

/** A folder for commands in which `furze` is this one. */
function commandFolder(files: Scene['files'] = {}): { readonly folder: string; readonly path: string } {
  const folder = tempFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  mkdirSync(join(folder, 'backups'));
  const furze = join(bin, 'furze');
  writeFileSync(
    furze,
    `#!/bin/sh\nexec "${process.execPath}" "${join(inject('compiled'), 'src/main.js')}" "$@"\n`,
  );
  chmodSync(furze, 0o755);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return { folder, path: `${bin}:${process.env.PATH}` };
}

describe.each(blocks.filter(({ reason }) => reason === undefined))('$name', ({ name, text, output }) => {
  const lacks = /\bzstd\b/.test(text) && spawnSync('zstd', ['--version']).status !== 0;
  if (lacks) console.warn(`SKIPPED the commands of ${name}: zstd is not installed`);

  test.skipIf(lacks)('does what it says, without an error, and prints what the page has of it', async () => {
    const { config = '', files, first = ':', before, replaced = (all: string) => all } = SCENES[name] ?? {};
    const { folder, path } = commandFolder(files);
    writeFileSync(join(folder, 'furze.toml'), config);
    const env = { PATH: path, HOME: folder };
    // What fails in the middle fails the block; curl by itself takes an error for an answer.
    const bash = (script: string, more = {}) =>
      run('bash', ['-euo', 'pipefail', '-c', `curl() { command curl -fsS "$@"; }\n${script}`], {
        cwd: folder,
        env: { ...env, ...more },
        timeout: TIMEOUT_MS,
      });
    const lines = text
      .replaceAll(/\\\n/g, ' ')
      .split(/\n(?=\S)(?! )/)
      .map((line) => line.trim());
    const early =
      before === undefined ? [] : lines.filter((line) => before.test(line) && !line.includes('restore'));
    await bash(first);
    let printed = '';
    for (const line of early) printed += (await bash(line)).stdout;
    const service = new Furze(['serve', '--port', '0'], env, [], folder);
    try {
      const address = (await service.waitFor(/"url":"([^"]+)"/))[1]!;
      await setUp(address, files);
      const port = new URL(address).port;
      const script = replaced(lines.filter((line) => !early.includes(line)).join('\n'), address);
      const [during, after] = split(script, before);
      const { stdout } = await bash(during.replaceAll(DOCUMENTED_PORT, port), {
        FURZE_SERVER_PORT: port,
        FURZE_SERVER_API_KEY: keyOf(config),
      });
      printed += stdout.replaceAll(`:${port}`, `:${DOCUMENTED_PORT}`);
      for (const line of after) printed += (await bash(`rm -rf ./data\n${line}`)).stdout;
      if (process.env.SHOW_PRINTED) console.log(`${name}\n${printed}`);
      if (output !== undefined) expect(inLines(printed)).toMatch(printedAs(output));
    } finally {
      await service.stop('SIGTERM');
    }
  });
});

/** The pattern of what a page says is printed. */
function printedAs(output: string): RegExp {
  const parts = output
    .trim()
    .split('...')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*')}$`);
}

/** Answers of curl end without a line break: a line each. */
function inLines(printed: string): string {
  return printed.replaceAll(/(?<=[\]}])(?=[[{])/g, '\n').trim();
}

/** Commands that restore a folder come last, each into one of its own. */
function split(script: string, before: RegExp | undefined): readonly [string, readonly string[]] {
  const lines = script.split('\n');
  const isLate = (line: string) => before !== undefined && line.includes('restore');
  return [lines.filter((line) => !isLate(line)).join('\n'), lines.filter(isLate)];
}

function keyOf(config: string): string {
  return /api_key = "(.*)"/.exec(config)?.[1] ?? '';
}

/** Items and vectors that the page takes to be there. */
async function setUp(address: string, files: Scene['files'] = {}): Promise<void> {
  const post = async (path: string, body: unknown) =>
    expect((await fetch(address + path, { method: 'POST', body: JSON.stringify(body) })).status).toBe(200);
  if (files.items !== undefined) await post('/api/items', [{ ItemId: 'film-1' }, { ItemId: 'film-2' }]);
  if (files.vectors !== undefined) await post('/api/vectors/text', [JSON.parse(String(files.vectors))]);
}

/** A file of NumPy with one row. */
function npyOf(row: readonly number[]): Buffer {
  const head = `${`{'descr': '<f4', 'fortran_order': False, 'shape': (1, ${row.length}), }`.padEnd(117)}\n`;
  const magic = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, head.length, 0]);
  return Buffer.concat([magic, Buffer.from(head), Buffer.from(Float32Array.from(row).buffer)]);
}
