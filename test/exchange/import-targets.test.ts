import { expect, it } from 'vitest';
import { httpTarget } from '../../src/exchange/import-targets.ts';
import type { ServiceClient } from '../../src/exchange/service-client.ts';

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
