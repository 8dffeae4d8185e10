import { expect, test } from 'vitest';
import { judgeNode } from '../../src/cli/node-version.ts';

test.each(['20.11.0', '20.20.2', '22.1.0', '24.21.0'])(
  'Node.js %s is among the tested versions',
  (version) => {
    expect(judgeNode(version)).toEqual({ line: undefined, isTooOld: false });
  },
);

test.each(['18.20.8', '20.10.0', '20.9.1', '9.0.0'])('Node.js %s is too old, in one line', (version) => {
  const { line, isTooOld } = judgeNode(version);
  expect(isTooOld).toBe(true);
  expect(line).toContain('needs Node.js 20.11 or newer');
  expect(line).toContain(version);
  expect(line).not.toContain('\n');
});

test.each(['21.7.3', '23.0.0', '26.2.0'])(
  'Node.js %s may run, and is not among the tested versions',
  (version) => {
    const { line, isTooOld } = judgeNode(version);
    expect(isTooOld).toBe(false);
    expect(line).toBe(`furze is tested on Node.js 20, 22, 24, and this is ${version}.`);
  },
);
