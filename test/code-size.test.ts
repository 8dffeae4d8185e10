import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const ASSEMBLY = fileURLToPath(new URL('../assembly/', import.meta.url));
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** All functions below a part of a syntax tree, nested ones too. */
function* functionsIn(part: unknown): Generator<Node> {
  if (Array.isArray(part)) for (const each of part) yield* functionsIn(each);
  if (!isNode(part)) return;
  if (FUNCTIONS.includes(part.type)) yield part;
  for (const value of Object.values(part)) yield* functionsIn(value);
}

const lineCount = (text: string) => text.split('\n').length;

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
const files = filesIn(SRC);

it('no source file is longer than 400 lines', () => {
  expect(files.length).toBeGreaterThan(300);
  const all = [...files, ...filesIn(ASSEMBLY)];
  expect(all.filter(({ text }) => lineCount(text) - 1 > FILE_LINES_MAX).map(({ name }) => name)).toEqual([]);
});

it('no function is longer than 60 lines', () => {
  let count = 0;
  const long: string[] = [];
  for (const { name, text } of files) {
    const lang = extname(name) === '.tsx' ? 'tsx' : 'ts';
    for (const { start, end } of functionsIn(parseAst(text, { lang }).body)) {
      count++;
      const length = lineCount(text.slice(start, end));
      if (length > FUNCTION_LINES_MAX) long.push(`${name}:${lineCount(text.slice(0, start))} has ${length}`);
    }
  }
  expect(count).toBeGreaterThan(3000);
  expect(long).toEqual([]);
});
