import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';

const TEST = fileURLToPath(new URL('.', import.meta.url));
/** A machine may be much slower than that of whoever writes a test, and stall: what waits waits for minutes. */
const WAIT_MS_MIN = 300_000;
const WAITING = ['waitFor', 'waitUntil'];
const BLOCKS = ['it', 'test', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach'];

interface Node {
  readonly type: string;
  readonly start: number;
  readonly name?: string;
  readonly value?: unknown;
  readonly key?: Node;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly arguments?: readonly Node[];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** All of a syntax tree below a part of it. */
function* nodesIn(part: unknown): Generator<Node> {
  if (Array.isArray(part)) for (const each of part) yield* nodesIn(each);
  if (!isNode(part)) return;
  yield part;
  for (const value of Object.values(part)) yield* nodesIn(value);
}

/** `it` of `it.skipIf(…).each(…)(…)`. */
function rootOf(callee: Node | undefined): string | undefined {
  if (callee?.type === 'CallExpression') return rootOf(callee.callee);
  return callee?.type === 'MemberExpression' ? rootOf(callee.object) : callee?.name;
}

const isShort = (node: Node | undefined) => typeof node?.value === 'number' && node.value < WAIT_MS_MIN;

/** What is wrong with a limit; undefined where there is none, or nothing is. */
function faultOf({ type, key, value, callee, arguments: given = [] }: Node): string | undefined {
  if (type === 'Property' && key?.name === 'timeout' && isShort(value as Node)) return 'a short timeout';
  if (type !== 'CallExpression') return undefined;
  const isWaiting = rootOf(callee) === 'vi' && WAITING.includes(callee?.property?.name ?? '');
  if (isWaiting && (given.length < 2 || isShort(given[1]))) return 'waits for a second by itself';
  const isBlock = BLOCKS.includes(rootOf(callee) ?? '') && given.length > 1;
  return isBlock && isShort(given.at(-1)) ? 'a short limit of a test' : undefined;
}

it('no test gives up within minutes, on however slow a machine', () => {
  const names = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  expect(names.length).toBeGreaterThan(250);
  const faults = names.flatMap((name) => {
    const text = readFileSync(join(TEST, name), 'utf8');
    return [...nodesIn(parseAst(text, { lang: 'ts' }).body)].flatMap((node) => {
      const fault = faultOf(node);
      return fault === undefined ? [] : `${name}:${text.slice(0, node.start).split('\n').length}: ${fault}`;
    });
  });
  expect(faults).toEqual([]);
});
