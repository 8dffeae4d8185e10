import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkData } from '../../src/store/lmdb/check/check-data.ts';
import { checkStore } from '../../src/store/lmdb/check/check-store.ts';
import { guardFiles } from '../../src/store/lmdb/check/damaged-files.ts';
import { inspectFile } from '../../src/store/lmdb/check/file-head.ts';
import { pairKey, rowKey, tripleKey, typeUserKey } from '../../src/store/lmdb/format/record-layout.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { readState, writeState } from '../../src/store/lmdb/tables/meta-table.ts';
import { DirectStore } from './direct-store.ts';
import { close, feedback, openIn, putFeedback, storeOptions, tempFolder } from './helpers.ts';

/** Users with short and long rows, items with few and many users, comments, deletions done and under way. */
async function fill(path: string): Promise<void> {
  const store = new DirectStore(path, storeOptions(''));
  const long = Array.from({ length: 5000 }, (_, i) => feedback('other', 'gone', `i${i % 700}x${i}`));
  const shared = Array.from({ length: 3000 }, (_, i) =>
    feedback(['like', 'read', 'other'][i % 3]!, `u${i % 900}`, `i${i % 11}`, {
      Comment: i % 70 === 0 ? 'hm' : '',
      ...(i % 90 === 0 && { Value: 4 }),
    }),
  );
  await store.write(putFeedback([...long, ...shared, feedback('like', 'deleted', 'i1')]));
  await store.write({ kind: 'deleteUser', userId: 'deleted' });
  await store.write({ kind: 'deleteUser', userId: 'gone' });
  store.slice();
  await store.close();
}

describe('a data store that is compared with itself', () => {
  let tables: DataTables;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'furze-check-'));
    await fill(folder);
    tables = openDataTables(folder);
  });
  afterAll(async () => {
    await tables.engine.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is sound, with a deletion under way', () => {
    const { faults, counts } = checkData(tables);
    expect(faults).toEqual([]);
    expect(counts).toMatchObject({ users: 900, feedback: 3000, comments: 43, 'unfinished deletions': 1 });
  });

  const row = rowKey;
  const damages: [string, RegExp, () => unknown][] = [
    ['a user without its id', /ids of users for/, () => tables.userIds.remove(Buffer.from('u7'))],
    ['an id of another row', /"i3" leads to/, () => tables.itemIds.put(Buffer.from('i3'), row(4))],
    ['an id too many', /ids of items for/, () => tables.itemIds.put(Buffer.from('zz'), row(4))],
    ['a user who is not there', /user row \d+, who is not/, () => tables.users.remove(row(5))],
    ['a wrong count', /3,000 feedback, but/, () => writeState(tables, { ...readState(tables), feedback: 1 })],
    [
      'an item’s list with a user too many',
      /item row \d+ does not agree/,
      () => editItem((all) => [...all, 901]),
    ],
    [
      'an item’s list with a user too few',
      /item row \d+ does not agree/,
      () => editItem((all) => all.slice(1)),
    ],
    ['an item’s list out of order', /not in order/, () => editItem((all) => all.toReversed())],
    [
      'a type’s list with a user too few',
      /type "like" does not/,
      () => tables.typeUsers.remove(typeUserOf('like')),
    ],
    [
      'a comment without feedback',
      /user row 2 has comments without/i,
      () => tables.comments.put(tripleKey(2, 4090, 1), row(1)),
    ],
    [
      'a value without feedback',
      /user row 2 has values without/i,
      () => tables.values.put(tripleKey(2, 4090, 1), new Uint8Array(8)),
    ],
    [
      'a block of a user cut short',
      /cut short/,
      () => tables.userFeedback.put(pairKey(9, 0), new Uint8Array(8)),
    ],
    [
      'a chain that leads nowhere',
      /end early|not a chain/,
      () => tables.userFeedback.put(pairKey(9, 0), Uint8Array.of(1, 0, 0, 0)),
    ],
    ['a damaged entity', /cannot be read/, () => tables.items.put(row(5001), Uint8Array.of(1, 0, 65, 9))],
  ];

  function editItem(change: (users: number[]) => number[]): void {
    const [first] = tables.itemFeedback.getRange({ start: pairKey(5001, 0), limit: 1 });
    const words = new Uint32Array(Uint8Array.from(first!.value).buffer);
    const changed = Uint32Array.of(words[0]!, ...change([...words.subarray(1)]));
    tables.itemFeedback.put(first!.key, new Uint8Array(changed.buffer));
  }

  function typeUserOf(name: string): Uint8Array {
    const names = JSON.parse(
      Buffer.from(tables.meta.getBinary(Buffer.from('types'))!).toString(),
    ) as string[];
    const [first] = tables.typeUsers.getKeys({ start: typeUserKey(names.indexOf(name), 0), limit: 1 });
    return first!;
  }

  test.each(damages)('%s is found', (_, fault, damage) => {
    const undo = new Error('undo');
    let faults: readonly string[] = [];
    expect(() =>
      tables.engine.transact(() => {
        damage();
        ({ faults } = checkData(tables));
        throw undo;
      }),
    ).toThrow(undo);
    expect(faults.join('\n')).toMatch(fault);
  });
});

describe('damaged files', () => {
  async function sound(): Promise<ReturnType<typeof storeOptions>> {
    const folder = tempFolder();
    const stores = openIn(folder);
    const list = { userRow: 1, generation: 1, madeMs: 0, knowsMs: 0 };
    const lists = Array.from({ length: 300 }, (_, userRow) => ({
      ...list,
      userRow,
      itemRows: new Uint32Array(100),
      scores: new Float32Array(100),
    }));
    await stores.cache.putLists(lists);
    const all = Array.from({ length: 6000 }, (_, i) => feedback('other', `u${i}`, `i${i % 97}`));
    await stores.data.write(putFeedback(all));
    await close(stores);
    return storeOptions(folder);
  }

  const garble = (file: string, from: number, to: number) => {
    const bytes = readFileSync(file);
    for (let at = from; at < Math.min(to, bytes.length); at++) bytes[at] = (at * 131) & 0xff;
    writeFileSync(file, bytes);
  };

  test('a bad head, a short file and junk pages of the data store are reported and not suffered', async () => {
    const { dataPath, cachePath } = await sound();
    const file = join(dataPath, 'data.mdb');
    const whole = readFileSync(file);
    expect(inspectFile(dataPath)).toMatchObject({ kind: 'sound' });
    expect(await checkStore('data', dataPath)).toMatchObject({ faultCount: 0, counts: { feedback: 6000 } });
    expect(await checkStore('cache', cachePath)).toMatchObject({ faultCount: 0, counts: { lists: 300 } });
    const guard = (readsAll = false) =>
      guardFiles({ dataPath, cachePath, toRead: readsAll ? ['data', 'cache'] : [] }, () => {});
    await guard();

    for (const at of [0, 4096]) {
      garble(file, at, at + 200);
      expect(inspectFile(dataPath).kind).toBe('damaged');
      expect((await checkStore('data', dataPath))?.faults[0]).toMatch(
        /^The file is damaged: its (first|second)/,
      );
      await expect(guard()).rejects.toThrow(/^The data store in \S+ is damaged: .* Restore a backup/);
      writeFileSync(file, whole);
    }

    truncateSync(file, Math.floor(whole.length / 2 / 4096) * 4096);
    expect(inspectFile(dataPath).kind).not.toBe('sound');
    await expect(guard()).rejects.toThrow(/is damaged/);
    writeFileSync(file, whole);

    garble(file, 8192, whole.length);
    expect(inspectFile(dataPath).kind).toBe('sound');
    expect((await checkStore('data', dataPath))?.faultCount).toBeGreaterThan(0);
    await guard();
    await expect(guard(true)).rejects.toThrow(/is damaged: .+ Restore a backup/);
    writeFileSync(file, whole);
    await guard();
    expect(await checkStore('data', tempFolder())).toBeUndefined();
  });

  /** Ends the process that reads the store as soon as there is one. */
  async function killReader(signal: NodeJS.Signals): Promise<void> {
    for (;;) {
      const found = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .find(
          ([, parent, ...args]) => Number(parent) === process.pid && args.join(' ').includes('check-child'),
        );
      if (found !== undefined) return void process.kill(Number(found[0]), signal);
      await delay(5);
    }
  }

  test.skipIf(process.platform !== 'linux')(
    'a check that somebody ends says so, takes nothing for damaged and sets nothing aside',
    async () => {
      const options = await sound();
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        const troubles: string[] = [];
        const guarded = guardFiles({ ...options, toRead: ['data', 'cache'] }, (message) =>
          troubles.push(message),
        );
        const refused = expect(guarded).rejects.toThrow(`did not come to its end: ${signal} ended it`);
        await killReader(signal);
        await refused;
        expect(troubles).toEqual([]);
      }
      const ending = new AbortController();
      const check = checkStore('data', options.dataPath, ending.signal);
      ending.abort(new Error('stopped'));
      await expect(check).rejects.toThrow('stopped');
      expect(await checkStore('data', options.dataPath)).toMatchObject({ faultCount: 0 });
    },
  );

  test('a damaged cache is set aside, and a new one takes its place', async () => {
    const options = await sound();
    const { cachePath } = options;
    for (const damage of [0, 1]) {
      const file = join(cachePath, 'data.mdb');
      if (damage === 0) garble(file, 0, 8192);
      else truncateSync(file, 8192);
      const troubles: string[] = [];
      await guardFiles({ ...options, toRead: [] }, (message) => troubles.push(message));
      expect(troubles.join()).toMatch(/^The cache in \S+ is damaged .* kept as damaged-/);
      expect(readdirSync(cachePath).filter((name) => name.startsWith('damaged-'))).toHaveLength(1);
      const stores = openIn(join(cachePath, '..'));
      expect(await stores.cache.getList(1)).toBeUndefined();
      expect(await stores.data.getStats()).toMatchObject({ feedback: 6000 });
      await close(stores);
    }
  });
});
