import { spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { startProxy } from '../../scripts/deploy/proxies.ts';
import { isInstalled } from '../../scripts/deploy/report.ts';
import { chooseEngine } from '../../src/http/engine/engine-choice.ts';
import { jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import { type RoutesServer, serveRoutes } from '../http/serve-routes.ts';
import { tempFolder } from '../store/helpers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = fileURLToPath(new URL('./drain-clients/', import.meta.url));
/** Load before the stop, milliseconds. */
const LOAD_MS = 500;
const ROUNDS = 1;
/** The server waits so long for the next request of a client that another process keeps from running. */
const QUIET_MS = 3000;

const common = { tag: 't', summary: 's', response: { description: '' } } as const;
const routes = [
  route({ ...common, method: 'GET', path: '/now', handler: () => jsonText('"ok"') }),
  route({ ...common, method: 'GET', path: '/late', handler: () => delay(2).then(() => jsonText('"ok"')) }),
];

/** Commands that ask the address behind them, by the library that they ask with. */
const CLIENTS: Readonly<
  Record<string, { readonly isThere: () => boolean; readonly command: () => readonly string[] }>
> = {
  undici: { isThere: () => true, command: () => [process.execPath, join(FOLDER, 'client.mjs')] },
  requests: {
    isThere: () => works('python3', '-c', 'import requests'),
    command: () => ['python3', join(FOLDER, 'client.py')],
  },
  'net/http': {
    isThere: () => works('go', 'version'),
    command() {
      const program = join(tempFolder(), 'client');
      expect(works('go', 'build', '-gcflags=all=-N -l', '-o', program, join(FOLDER, 'client.go'))).toBe(true);
      return [program];
    },
  },
};

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'inherit' }).status === 0;
}

/** @returns what 64 pooled connections to that address saw, while a server stops that they ask as fast as they can */
async function stopUnder(
  own: RoutesServer,
  command: readonly string[],
  address = own.base,
): Promise<{ readonly answered: number; readonly lost: readonly string[] }> {
  const [program, ...args] = [...command, address] as unknown as [string, ...string[]];
  const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const lines = on(createInterface(child.stdout), 'line');
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the client ended with ${code}`)));
  });
  ended.catch(() => {});
  const next = async () => (await Promise.race([lines.next(), ended])).value;
  expect(await next()).toEqual(['asked']);
  await delay(LOAD_MS);
  await own.close();
  const [line] = (await next()) as [string];
  return JSON.parse(line);
}

describe.each(Object.keys(CLIENTS))('%s', (name) => {
  const { isThere, command } = CLIENTS[name]!;
  const canRun = isThere();
  if (!canRun) console.warn(`SKIPPED a stop under ${name}: it is not installed`);

  test.runIf(canRun).each(['uws', 'node'] as const)(
    'a stop under load leaves no request over pooled connections without an answer, over %s',
    async (engine) => {
      const program = command();
      const under = async (path: string) => {
        const own = await serveRoutes(routes, {
          by: chooseEngine(engine),
          connections: { quietMs: QUIET_MS },
        });
        const { answered, lost } = await stopUnder(own, program, own.base + path);
        expect(lost).toEqual([]);
        expect(answered).toBeGreaterThan(64);
      };
      for (let round = 0; round < ROUNDS; round++) for (const path of ['/now', '/late']) await under(path);
    },
  );
});

describe('nginx', () => {
  const isThere = isInstalled('nginx');
  if (!isThere) console.warn('SKIPPED a stop behind nginx: it is not installed');

  test.runIf(isThere).each(['uws', 'node'] as const)(
    'a stop under load cuts off no request over the connections that it keeps to %s',
    async (engine) => {
      for (let round = 0; round < ROUNDS; round++) {
        const own = await serveRoutes(routes, {
          by: chooseEngine(engine),
          connections: { quietMs: QUIET_MS },
        });
        const proxy = await startProxy('nginx', ROOT, join(tempFolder(), 'nginx'), own.port);
        const address = `https://127.0.0.1:${proxy.port}/now`;
        await vi.waitFor(() => once(connect(proxy.port, '127.0.0.1'), 'connect'), 300_000);
        const { answered, lost } = await stopUnder(own, CLIENTS.undici!.command(), address);
        proxy.child.kill('SIGTERM');
        // Once the port is closed there is nobody to ask: what nginx says then, it has not sent to the service.
        expect(lost.filter((what) => !what.startsWith('502 '))).toEqual([]);
        expect(proxy.output()).toContain('Connection refused');
        expect(proxy.output()).not.toMatch(/prematurely closed|reset by peer|timed out|broken/i);
        expect(answered).toBeGreaterThan(64);
      }
    },
  );
});
