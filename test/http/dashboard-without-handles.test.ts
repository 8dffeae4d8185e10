import type { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { dashboardRoutes } from '../../src/http/handlers/dashboard.ts';
import { docsRoutes } from '../../src/http/handlers/docs.ts';
import type { Reply } from '../../src/http/route/reply.ts';
import type { Route, RouteRequest } from '../../src/http/route/route.ts';
import type { Services } from '../../src/http/route/services.ts';

const handles = vi.hoisted(() => ({ areThere: false }));
const tooMany = () => Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
vi.mock('node:fs', async (importOriginal) => {
  const own = await importOriginal<typeof import('node:fs')>();
  const reads: typeof readFileSync = ((...given: Parameters<typeof own.readFileSync>) => {
    if (handles.areThere) return own.readFileSync(...given);
    throw tooMany();
  }) as typeof readFileSync;
  return { ...own, readFileSync: reads };
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const own = await importOriginal<typeof import('node:fs/promises')>();
  const readFile = (...given: Parameters<typeof own.readFile>) =>
    handles.areThere ? own.readFile(...given) : Promise.reject(tooMany());
  return { ...own, readFile };
});

async function ask(routes: readonly Route[], path: string, params: Record<string, string>): Promise<Reply> {
  const route = routes.find((each) => each.path === path)!;
  const services = { admin: { cards: { imageSource: '' } } } as unknown as Services;
  return route.handler({ params } as RouteRequest<typeof params>, services);
}

test('pages that were asked for while no file could be opened are there once one can', async () => {
  const [dashboard, docs] = [dashboardRoutes(), docsRoutes(() => ({}))];
  const asked = [
    [dashboard, '/', {}],
    [docs, '/apidocs/{asset}', { asset: 'swagger-ui.css' }],
  ] as const;
  handles.areThere = false;
  for (const [routes, path, params] of asked)
    await expect(ask(routes, path, params)).rejects.toThrow(/EMFILE/);
  handles.areThere = true;
  for (const [routes, path, params] of asked) {
    const { status, body } = await ask(routes, path, params);
    expect([status, body.length > 500]).toEqual([200, true]);
  }
});
