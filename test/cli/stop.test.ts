import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { stopWithin } from '../../src/cli/run-service.ts';
import { createLogger } from '../../src/domain/log.ts';

test('a stop that ends in time leaves the process alone', async () => {
  const codes: number[] = [];
  await stopWithin({ stop: async () => {} }, 20, createLogger('silent'), (code) => void codes.push(code));
  await delay(40);
  expect(codes).toEqual([]);
});

test('a stop that hangs ends the process, and the log says so', async () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const code = await new Promise((resolve) => {
    stopWithin({ stop: () => new Promise(() => {}) }, 20, log, resolve);
  });
  expect(code).toBe(1);
  expect(lines.join('')).toContain('shutdown_timeout');
});
