import { expect, it } from 'vitest';
import { commandName } from '../../src/cli/common/command-name.ts';

const usual = {
  execPath: '/usr/bin/node',
  script: '/usr/bin/furze',
  npmCommand: undefined,
  folder: '/home/ann',
};

it.each([
  ['an installed command', {}, 'furze'],
  ['npx', { npmCommand: 'exec', script: '/x/.bin/furze' }, 'npx furze'],
  ['a script below', { script: '/home/ann/furze/dist/main.js' }, 'node furze/dist/main.js'],
  ['a script elsewhere', { script: '/opt/my furze/dist/main.js' }, 'node "/opt/my furze/dist/main.js"'],
  ['one executable', { execPath: '/opt/furze-1/furze', script: '/cache/dist/main.js' }, '/opt/furze-1/furze'],
])('%s is called as it was', (_, begun, expected) => {
  expect(commandName({ ...usual, ...begun })).toBe(expected);
});
