import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { DataStore } from '../../../src/store/data-store.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { feedback, passed, putFeedback, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

/** What the commit of a group begins with. */
const CALL = 'CALL ';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Cut = 'before any of it' | 'in the middle of it' | 'before its answer' | 'in the middle of its answer';

/** A way to the database that, once it is told so, is cut at the next commit and open again at once. */
async function wayThatIsCut(dsn: PostgresDsn) {
  const real = new URL(dsn.url);
  const sockets: Socket[] = [];
  let at: Cut | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(real.port), real.hostname);
    sockets.push(near, far);
    let isCut: Cut | undefined;
    const cut = () => {
      cuts++;
      near.destroy();
      far.destroy();
    };
    near.on('data', (bytes: Buffer) => {
      if (at !== undefined && bytes.includes(CALL)) [isCut, at] = [at, undefined];
      if (isCut === 'before any of it') return cut();
      if (isCut !== 'in the middle of it') return void far.write(bytes);
      far.write(bytes.subarray(0, bytes.indexOf(CALL) + CALL.length), cut);
    });
    far.on('data', (bytes: Buffer) => {
      if (isCut === undefined) return void near.write(bytes);
      if (isCut === 'before its answer') return cut();
      near.write(bytes.subarray(0, 3), cut);
    });
    for (const socket of [near, far]) {
      socket.on('error', () => {});
      socket.on('close', () => (socket === near ? far : near).destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const through = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
  return {
    dsn: { ...dsn, url: through(dsn.url), sessionUrl: through(dsn.sessionUrl) },
    cutNext: (where: Cut) => {
      at = where;
    },
    cuts: () => cuts,
  };
}

/** Writes as a client does that sends again what it does not know to be stored. @returns refusals before it was stored */
async function writeStubbornly(data: DataStore, ids: readonly number[]): Promise<string[]> {
  const records = ids.map((id) => feedback('like', 'u', `i${id}`, { Value: 1 }));
  for (const refusals: string[] = []; ; await sleep(20)) {
    try {
      await data.write(putFeedback(records));
      return refusals;
    } catch (error) {
      refusals.push((error as { code: string }).code);
    }
  }
}

describe.skipIf(!HAS_POSTGRES)('a connection that is lost while a commit is under way', () => {
  test.each<Cut>([
    'before any of it',
    'in the middle of it',
    'before its answer',
    'in the middle of its answer',
  ])(
    '%s: the write is refused or stored, and once when it is sent again; nobody lacks anything',
    async (where) => {
      const dsn = newDsn();
      const way = await wayThatIsCut(dsn);
      const rules = { repeatedTypes: ['like'] };
      const { data } = await openNode(way.dsn, tempFolder(), rules);
      const other = await openNode(dsn, tempFolder(), rules);
      await writeStubbornly(data, [0]);
      const told: string[] = [];
      for (let round = 1; round <= 5; round++) {
        way.cutNext(where);
        // Others of the same group, and of the one behind it.
        const writes = [0, 1, 2].map((at) => writeStubbornly(data, [round * 3 + at, round * 3 + at + 100]));
        told.push(...(await Promise.all(writes)).flat());
        await writeStubbornly(other.data, [1000 + round]);
      }
      expect(way.cuts()).toBeGreaterThanOrEqual(5);
      expect(new Set(told)).toEqual(new Set(['STORE_UNAVAILABLE']));
      for (const node of [data, other.data]) {
        await passed(node, ['u']);
        const stored = await node.getUserFeedback('u');
        expect(stored).toHaveLength(1 + 5 * 6 + 5);
        expect(stored.map((each) => node.local.occurrences(each)?.length ?? 1)).toEqual(stored.map(() => 1));
      }
    },
  );
});
