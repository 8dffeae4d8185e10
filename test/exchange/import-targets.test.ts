import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import type { Item } from '../../src/domain/entities.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import { itemsWithin } from '../../src/exchange/import-plan.ts';
import { httpTarget, writeVectorsTo } from '../../src/exchange/import-targets.ts';
import type { ServiceClient } from '../../src/exchange/service-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-targets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a server takes batches in the order of the file, also where it is too busy for one at first', async () => {
  const stored: string[] = [];
  let isBusy = true;
  const client = {
    url: 'http://host',
    async send(_method: string, _path: string, { body }: { body: Uint8Array }) {
      if (isBusy) {
        isBusy = false;
        return new Response('{"detail":"busy"}', { status: 503 });
      }
      stored.push(Buffer.from(body).toString());
      return Response.json({ RowAffected: 1 });
    },
  } as unknown as ServiceClient;
  const target = httpTarget(client, true);
  const batches = ['["first"]', '["second"]', '["third"]'];
  const written = batches.map((json) => target.write('feedback', Uint8Array.from(Buffer.from(json))));
  expect(await Promise.all(written)).toEqual([1, 1, 1]);
  expect(stored).toEqual(batches);
});

/** A service that takes at most three records at once, of at most 30 bytes in all, and no user "bad". */
function frugalClient() {
  const taken: string[][] = [];
  const client = {
    url: 'http://host',
    async send(_method: string, _path: string, { body }: { body: Uint8Array }) {
      const records = JSON.parse(Buffer.from(body).toString()) as string[];
      const bad = records.indexOf('bad');
      const errors = [{ path: `/${bad}/UserId`, message: 'is bad' }];
      if (records.length > 3 || body.length > 30)
        return new Response('{"detail":"too much"}', { status: 413 });
      if (bad >= 0) return Response.json({ detail: 'bad', errors }, { status: 400 });
      taken.push(records);
      return Response.json({ RowAffected: records.length });
    },
  } as unknown as ServiceClient;
  const batch = (records: readonly string[]) => Uint8Array.from(Buffer.from(JSON.stringify(records)));
  return { taken, client, batch };
}

it.each([
  ['items', (client: ServiceClient) => httpTarget(client, false).write.bind(undefined, 'items')],
  ['vectors', (client: ServiceClient) => writeVectorsTo(client, 'text')],
])('a server that takes less at once gets smaller batches of %s, each record once', async (_kind, open) => {
  const { taken, client, batch } = frugalClient();
  const write = open(client);
  const ids = Array.from({ length: 9 }, (_, at) => `i${at}`);
  await write(batch(ids));
  await write(batch(['x'.repeat(20), 'y'.repeat(20), 'z']));
  expect(taken.flat()).toEqual([...ids, 'x'.repeat(20), 'y'.repeat(20), 'z']);
  // A record that is refused is named by its place in the batch that was given.
  await expect(write(batch(['a', 'b', 'c', 'd', 'e', 'bad']))).rejects.toMatchObject({
    places: [{ path: '/5/UserId' }],
  });
  const large = 'L'.repeat(200);
  await expect(write(batch(['a', large, 'b']))).rejects.toThrow(
    /^http:\/\/host answered 413: too much A record alone is too large: "L{99}\.\.\.$/,
  );
});

it('an import of items that feedback tells of goes on as if it had not been cut off: the first row tells', async () => {
  const path = join(folder, 'views.csv');
  const rows = ['ann,a,Old title,5', 'ann,b,Other,4', 'bob,a,New title,3', 'bob,c,Third,2', 'cy,c,Again,1'];
  writeFileSync(path, `user_id,item_id,title,rating\n${rows.join('\n')}\n`);
  const { plan } = await lookAt({ path, wishes: { kind: 'feedback' } });
  const { items } = itemsWithin(plan)!;
  const after = async (line: number) => {
    const told: string[] = [];
    await importFile({
      ...{ plan: items, skipsBad: true, onProgress: () => {}, onRefused: () => {} },
      signal: new AbortController().signal,
      onRow: ({ made }) => 'record' in made && told.push((made.record as Item).Comment),
      resumePoint: { read: () => ({ line }), write: () => {}, remove: () => {} } as never,
    });
    return told;
  };
  expect(await after(0)).toEqual(['Old title', 'Other', 'Third']);
  expect(await after(3)).toEqual(['Third']);
  expect(await after(5)).toEqual([]);
});
