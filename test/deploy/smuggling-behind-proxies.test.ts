import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type StartedProxy, startProxy } from '../../scripts/deploy/proxies.ts';
import { isInstalled } from '../../scripts/deploy/report.ts';
import { chooseEngine } from '../../src/http/engine/engine-choice.ts';
import { jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import { type RoutesServer, serveRoutes } from '../http/serve-routes.ts';
import { HIDDEN, MALFORMED, NEXT, UNSURE } from '../http/smuggling-shapes.ts';
import { tempFolder } from '../store/helpers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Each refuses the path of the hidden request itself: what is heard of it came in behind the proxy's back. */
const PROXIES: Readonly<Record<string, (text: string) => string>> = {
  nginx: (text) => text.replace('location / {', 'location = /next { return 403; }\n    location / {'),
  caddy: (text) => text.replace('reverse_proxy', 'respond /next 403\n\treverse_proxy'),
  haproxy: (text) =>
    text.replace('default_backend', 'http-request deny if { path /next }\n    default_backend'),
};
const TARGETS = ['GET /get', 'POST /body', 'POST /late'];
/** A connection that neither side ends by then tells nothing more. */
const REST_MS = 1000;
const VICTIMS = 16;
/** Shapes that are sent at once. */
const AT_ONCE = 13;

const common = { tag: 't', summary: 's', response: { description: '' } } as const;
const body = { schema: Type.Any(), example: '' };
let heard: string[] = [];
const hear = (path: string) => () => {
  heard.push(path);
  return jsonText(`"${path}"`);
};
const routes = [
  route({ ...common, method: 'GET', path: '/api/health/ready', handler: () => jsonText('{}') }),
  route({ ...common, method: 'GET', path: '/next', handler: hear('next') }),
  route({ ...common, method: 'GET', path: '/get', handler: hear('get') }),
  route({ ...common, method: 'POST', path: '/body', body, handler: hear('body') }),
  route({ ...common, method: 'POST', path: '/late', body, handler: () => delay(5).then(hear('late')) }),
];

/**
 * Sends parts one after the other through a proxy.
 * @param hangsUp ends the sending side behind them, and waits a second for the other
 * @returns what came back
 */
async function talk(
  { port, isTls }: StartedProxy,
  parts: readonly string[],
  hangsUp = true,
): Promise<string> {
  const at = { port, host: '127.0.0.1' };
  const socket: Socket = isTls
    ? connectTls({ ...at, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    : connect(at);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  const closed = once(socket, 'close').catch(() => {});
  for (const part of parts) {
    if (!socket.destroyed) socket.write(part, 'latin1');
    await delay(20);
  }
  if (hangsUp) socket.end();
  await (hangsUp ? Promise.race([closed, delay(REST_MS)]) : closed);
  socket.destroy();
  return received;
}

const ask = (proxy: StartedProxy, path: string) =>
  talk(proxy, [`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`], false);

/** Shapes some at a time, by their names. */
function groups(shapes: typeof UNSURE): (readonly [names: string, shapes: typeof UNSURE])[] {
  const starts = Array.from({ length: Math.ceil(shapes.length / AT_ONCE) }, (_, at) => at * AT_ONCE);
  return starts.map((start) => {
    const group = shapes.slice(start, start + AT_ONCE);
    return [group.map(([name]) => name).join(', '), group];
  });
}

const cases = ['uws', 'node'].flatMap((engine) =>
  Object.keys(PROXIES).map((name) => [name, engine as 'uws' | 'node'] as const),
);

describe.each(cases)('behind %s, with kept connections to the engine %s', (name, wish) => {
  const isThere = isInstalled(name);
  if (!isThere) console.warn(`SKIPPED smuggling behind ${name}: ${name} is not installed`);
  let server: RoutesServer;
  let proxy: StartedProxy;
  beforeAll(async () => {
    if (!isThere) return;
    server = await serveRoutes(routes, { by: chooseEngine(wish, true) });
    proxy = await startProxy(name, ROOT, join(tempFolder(), name), server.port, PROXIES[name]);
    await vi.waitFor(
      async () => expect(await ask(proxy, '/get'), proxy.output()).toContain('"get"'),
      300_000,
    );
    expect(await ask(proxy, '/next')).toMatch(/^HTTP\/1\.1 403/);
  });
  afterAll(async () => {
    proxy?.child.kill('SIGTERM');
    await server?.close();
  });
  beforeEach(() => {
    heard = [];
  });

  test.skipIf(!isThere).each(groups([...UNSURE, ...HIDDEN, ...MALFORMED]))(
    '%s: no hidden request is heard, and nobody gets the answer of another',
    async (_, shapes) => {
      const attacks = shapes.flatMap(([, headers, rest]) =>
        TARGETS.flatMap((target) => {
          const head = `${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
          return [[head + rest], [head, rest, NEXT]].map((parts) => talk(proxy, parts));
        }),
      );
      // Others use the same connections to the service meanwhile and after.
      const victims = () => Promise.all(Array.from({ length: VICTIMS }, () => ask(proxy, '/get')));
      const answers = [...(await victims()), ...(await Promise.all(attacks).then(victims))];
      expect(heard).not.toContain('next');
      for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"get"/);
    },
  );
});
