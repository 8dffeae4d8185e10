import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { importGorse } from '../../src/cli/import/from-gorse.ts';
import { runProgram } from '../../src/cli/program.ts';
import {
  BEGUN,
  type CopyState,
  compareRecords,
  copyRecords,
  KINDS,
} from '../../src/exchange/copy-records.ts';
import { storeSource } from '../../src/exchange/copy-sources.ts';
import { storeTarget, type Target } from '../../src/exchange/import-targets.ts';
import { ResumePoint } from '../../src/exchange/resume-point.ts';
import type { DataStore } from '../../src/store/data-store.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { Furze } from '../cli/run-furze.ts';
import { vectorsOf } from '../store/contract/vectors.ts';
import { close, openIn, putFeedback, putItems, putUsers, tempFolder, toJson } from '../store/helpers.ts';
import { HAS_POSTGRES, newDsn } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';

let said: string;

beforeEach(() => {
  said = '';
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      said += text;
      return true;
    });
});
afterEach(() => vi.restoreAllMocks());

/** Users, items and feedback with everything that records can have. */
async function fill(data: DataStore): Promise<void> {
  const users = Array.from({ length: 1500 }, (_, at) => ({
    UserId: `u${at}`,
    Labels: at % 2 === 0 ? ['a', `b${at}`] : { city: ['Köln'], age: at },
    Comment: at % 5 === 0 ? 'says "this"\n' : '',
    Subscribe: at % 7 === 0 ? ['news'] : [],
  }));
  const items = Array.from({ length: 300 }, (_, at) => ({
    ItemId: `i${at}`,
    IsHidden: at % 9 === 0,
    Categories: [`c${at % 4}`],
    Timestamp: at % 3 === 0 ? '' : '2024-03-01T10:00:00.123Z',
    Labels: ['x'],
  }));
  await data.write({ kind: 'putUsers', batch: { json: toJson(users), single: false } });
  await data.write(putItems(items));
  await data.write(
    putFeedback(
      Array.from({ length: 3500 }, (_, at) => ({
        FeedbackType: ['like', 'read', 'rating'][at % 3]!,
        UserId: `u${(at * 7) % 1500}`,
        ItemId: `i${(at * 11 + Math.floor(at / 1500)) % 300}`,
        Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 1000).toISOString(),
        Comment: at % 100 === 0 ? 'very good' : '',
        ...(at % 3 === 2 && { Value: at / 10 }),
      })),
    ),
  );
}

async function everything(data: DataStore): Promise<string[]> {
  const records: string[] = [];
  for (const kind of KINDS)
    for await (const { rows } of storeSource(data, true)(kind))
      records.push(...rows.map((row) => JSON.stringify(row)));
  return records.sort();
}

function dsnOf(folder: string): string {
  return `lmdb://${join(folder, 'data')}`;
}

describe.skipIf(!HAS_POSTGRES)('furze migrate', () => {
  test('moves everything to PostgreSQL and back, and says so', async () => {
    const [from, to, replicas] = [tempFolder(), tempFolder(), tempFolder()];
    // One pair has a read and a positive feedback, which settings of today would not keep together.
    const vectorSpaces = {
      text: { dimensions: 3, similarity: 'cosine' },
      old: { dimensions: 1, similarity: 'dot' },
    } as const;
    const before = openIn(from, { readFeedbackTypes: [], repeatedTypes: ['buy'], vectorSpaces });
    await fill(before.data);
    await before.data.write(vectorsOf('text', ['i0', [1, 2, 3]], ['i299', [-0.1, 1e-30, 3e15]]));
    await before.data.write(vectorsOf('old', ['i7', [7]]));
    // Bought every hour of three days.
    await before.data.write(
      putFeedback(
        Array.from({ length: 72 }, (_, hour) => ({
          FeedbackType: 'buy',
          UserId: 'u1',
          ItemId: 'i1',
          Timestamp: new Date(Date.UTC(2024, 4, 1, hour)).toISOString(),
          Comment: hour === 0 ? 'at last' : '',
          Value: 1,
        })),
      ),
    );
    await before.data.write(
      putFeedback(
        ['read', 'star'].map((FeedbackType) => ({ FeedbackType, UserId: 'u1', ItemId: 'i1', Timestamp: '' })),
      ),
    );
    const expected = await everything(before.data);
    expect(expected.length).toBeGreaterThan(5000);
    await close(before);
    const database = newPostgresDsn();
    const config = join(replicas, 'furze.toml');
    writeFileSync(config, '[vectors.text]\ndimensions = 3\n');
    const migrate = (source: string, target: string, replica: string) =>
      runProgram(['migrate', '--from', source, '--to', target, '--config', config], {
        FURZE_DATABASE_REPLICA: `lmdb://${join(replicas, replica)}`,
        FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'star',
        FURZE_RECOMMEND_DATA_SOURCE_READ_FEEDBACK_TYPES: 'read',
      });
    expect([await migrate(dsnOf(from), database, 'a'), said]).toEqual([
      0,
      expect.stringMatching(/1,500 users, 300 items, 3,503 feedback, 2 vectors moved/),
    ]);
    expect(said).toMatch(/1 vector of "old" stays behind/);
    expect([await migrate(database, dsnOf(to), 'b'), said]).toEqual([0, expect.anything()]);
    const after = openIn(to);
    expect(await everything(after.data)).toEqual(expected);
    const { local } = after.data;
    expect(['i0', 'i299', 'i1'].map((id) => local.vectorAt(local.itemRow(id), 'text', 3))).toEqual([
      Float32Array.of(1, 2, 3),
      Float32Array.of(-0.1, 1e-30, 3e15),
      undefined,
    ]);
    await close(after);
    said = '';
    expect(await migrate(dsnOf(from), database, 'a')).toBe(1);
    expect(said).toMatch(/holds data already/);
  });

  test('goes on where it ended before it said that all is moved', async () => {
    const [from, replicas] = [tempFolder(), tempFolder()];
    const before = openIn(from);
    await before.data.write(putUsers([{ UserId: 'ann' }, { UserId: 'bob' }]));
    await close(before);
    const args = ['migrate', '--from', dsnOf(from), '--to', newPostgresDsn()];
    const migrate = () => runProgram(args, { FURZE_DATABASE_REPLICA: `lmdb://${join(replicas, 'a')}` });
    vi.mocked(process.stdout.write).mockImplementationOnce(() => {
      throw new Error('the end');
    });
    expect(await migrate()).toBe(1);
    expect([await migrate(), said]).toEqual([0, expect.stringMatching(/2 users, 0 items, 0 feedback moved/)]);
  });
});

describe.skipIf(!HAS_POSTGRES)('furze migrate as a process', () => {
  test('goes on after kill -9, there and back, with every record once', async () => {
    const [from, to, replicas] = [tempFolder(), tempFolder(), tempFolder()];
    const before = openIn(from, { readFeedbackTypes: [] });
    await fill(before.data);
    const expected = await everything(before.data);
    await close(before);
    const database = newPostgresDsn();
    const migrate = (source: string, target: string, replica: string) =>
      new Furze(['migrate', '--from', source, '--to', target, '--json'], {
        FURZE_DATABASE_REPLICA: `lmdb://${join(replicas, replica)}`,
      });
    for (const [source, target, replica] of [
      [dsnOf(from), database, 'a'],
      [database, dsnOf(to), 'b'],
    ] as const) {
      const killed = migrate(source, target, replica);
      await killed.waitFor(/moving users/);
      await killed.stop('SIGKILL');
      const again = migrate(source, target, replica);
      expect([await again.exit, again.output]).toEqual([
        0,
        expect.stringMatching(/^\{"users":1500,"items":300,"feedback":3500,"vectors":0\}$/m),
      ]);
    }
    const after = openIn(to);
    expect(await everything(after.data)).toEqual(expected);
    await close(after);
  });
});

describe('copying records', () => {
  test('goes on where it was cut off, and a comparison tells what differs', async () => {
    const [from, to] = [openIn(tempFolder()), openIn(tempFolder())];
    await fill(from.data);
    const folder = tempFolder();
    const open = () => new ResumePoint<CopyState>(folder, 'test', 'this');
    const whole = storeTarget(to.data, 'to', false);
    let left = 0;
    let stored = 0;
    const counting: Target = {
      name: 'to',
      write(kind, json) {
        if (left-- <= 0) throw new Error('killed');
        stored += (JSON.parse(Buffer.from(json).toString()) as object[]).length;
        return whole.write(kind, json);
      },
    };
    const copy = () =>
      copyRecords({
        source: storeSource(from.data),
        target: counting,
        resumePoint: open(),
        onProgress: () => {},
      });
    await expect(copy()).rejects.toThrow(/killed/);
    expect(open().read()).toEqual(BEGUN);
    left = 4;
    await expect(copy()).rejects.toThrow(/killed/);
    left = 1000;
    expect(await copy()).toEqual({ users: 1500, items: 300, feedback: 3500 });
    expect(stored).toBe(1500 + 300 + 3500);
    const compare = () => compareRecords(storeSource(from.data), to.data, () => {});
    expect(await compare()).toMatchObject({ differentCount: 0, compared: { feedback: 3500 } });
    await to.data.write(putUsers([{ UserId: 'u7', Comment: 'other' }, { UserId: 'more' }]));
    await to.data.write({ kind: 'deleteItem', itemId: 'i8' });
    const { different, differentCount } = await compare();
    expect(differentCount).toBeGreaterThan(3);
    expect(different.join('\n')).toMatch(/^users: .*"u7".* is .*"other"/m);
  });
});

describe.skipIf(!HAS_POSTGRES)('furze import --from-gorse', () => {
  test("reads Gorse's tables", async () => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    const s = `"${dsn.schema}"`;
    await connection.run(`CREATE SCHEMA ${s};
      CREATE TABLE ${s}.g_users (user_id varchar(256) PRIMARY KEY, labels json NOT NULL DEFAULT '[]', subscribe json NOT NULL DEFAULT '[]', comment text NOT NULL DEFAULT '');
      CREATE TABLE ${s}.g_items (item_id varchar(256) PRIMARY KEY, is_hidden bool NOT NULL DEFAULT FALSE, categories json NOT NULL DEFAULT '[]',
        time_stamp timestamptz NOT NULL DEFAULT '0001-01-01', labels json NOT NULL DEFAULT '[]', comment text NOT NULL DEFAULT '');
      CREATE TABLE ${s}.g_feedback (feedback_type varchar(256), user_id varchar(256), item_id varchar(256), time_stamp timestamptz NOT NULL DEFAULT '0001-01-01',
        comment text NOT NULL DEFAULT '', PRIMARY KEY (feedback_type, user_id, item_id));
      INSERT INTO ${s}.g_users SELECT 'u' || n, '["a","b"]', '[]', 'c' FROM generate_series(1, 2500) n;
      INSERT INTO ${s}.g_items VALUES ('i1', true, '["k"]', '2024-05-01 12:00:00.5+02', '["x"]', 'it'), ('i2', false, '[]', DEFAULT, 'null', '');
      INSERT INTO ${s}.g_feedback SELECT 'like', 'u' || n, 'i1', '2024-06-01+00', '' FROM generate_series(1, 2500) n`);
    await connection.close();
    const to = openIn(tempFolder());
    const url = `${dsn.url}?schema=${dsn.schema}&table_prefix=g_`;
    expect(await importGorse(url, storeTarget(to.data, 'to', false), tempFolder())).toBe(0);
    expect(said).toMatch(/2,500 users, 2 items, 2,500 feedback/);
    expect(await to.data.getStats()).toMatchObject({ users: 2500, items: 2, feedback: 2500 });
    expect(await to.data.getUser('u77')).toMatchObject({ Labels: ['a', 'b'], Comment: 'c' });
    const item = {
      IsHidden: true,
      Categories: ['k'],
      Timestamp: '2024-05-01T10:00:00.500Z',
      Labels: ['x'],
      Comment: 'it',
    };
    expect(await to.data.getItem('i1')).toMatchObject(item);
    expect(await to.data.getItem('i2')).toMatchObject({ Timestamp: '', Labels: [] });
    expect(await to.data.getFeedback('like', 'u2500', 'i1')).toMatchObject({
      Timestamp: '2024-06-01T00:00:00Z',
    });
  });
});
