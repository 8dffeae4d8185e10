import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkData } from '../../../src/store/lmdb/check/check-data.ts';
import { LmdbDataReader } from '../../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../../../src/store/lmdb/tables/data-tables.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { beginCopy } from '../../../src/store/postgres/copy-all.ts';
import { prepareReplica } from '../../../src/store/postgres/replica-start.ts';
import { close, feedback, putFeedback, sorted, tempFolder, walk } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

describe.skipIf(!HAS_POSTGRES)('a copy made anew', () => {
  test('is cut off by no bound of the server', async () => {
    const dsn = newDsn();
    const bounded = {
      ...dsn,
      url: `${dsn.url}${dsn.url.includes('?') ? '&' : '?'}options=-c%20statement_timeout%3D60s`,
    };
    const connection = await Connection.open(bounded, 'test');
    expect(await connection.rows('SHOW statement_timeout')).toEqual([['1min']]);
    await beginCopy(connection);
    expect(await connection.rows('SHOW statement_timeout')).toEqual([['0']]);
    expect(await connection.rows('SHOW idle_in_transaction_session_timeout')).toEqual([['10min']]);
    await connection.run('COMMIT');
    expect(await connection.rows('SHOW idle_in_transaction_session_timeout')).toEqual([['15s']]);
    await connection.close();
  });

  test('has all there is, but for users and items that are being removed', async () => {
    const dsn = newDsn();
    const node = await openNode(dsn, tempFolder());
    const records = Array.from({ length: 300 }, (_, at) =>
      feedback(at % 3 === 0 ? 'read' : 'like', `u${at % 7}`, `i${(at * 31) % 90}`, {
        Comment: at % 10 === 0 ? `\u0000 of ${at}` : '',
        ...(at % 4 === 0 && { Value: -at - 0.5 }),
      }),
    );
    await node.data.write(putFeedback(records, true));
    const connection = await Connection.open(dsn, 'test');
    const s = `"${dsn.schema}"`;
    const [last] = await connection.rows<[string]>(
      `SELECT item_id FROM ${s}.items ORDER BY item_row DESC LIMIT 1`,
    );
    const there = (await walk(50, (n, cursor) => node.data.getFeedbackPage(n, cursor))).filter(
      ({ UserId, ItemId }) => UserId !== 'u3' && ItemId !== last![0],
    );
    // As a node leaves them that dies while it removes a user and the last item.
    await connection.run(`
      INSERT INTO ${s}.removals SELECT user_row, true FROM ${s}.users WHERE user_id = 'u3';
      INSERT INTO ${s}.removals SELECT item_row, false FROM ${s}.items WHERE item_id = '${last![0]}';
      DELETE FROM ${s}.users WHERE user_id = 'u3';
      DELETE FROM ${s}.items WHERE item_id = '${last![0]}'`);
    await connection.close();
    const folder = join(tempFolder(), 'data');
    await prepareReplica(dsn, folder, () => {});
    const tables = openDataTables(folder);
    const reader = new LmdbDataReader(tables);
    const copied = await walk(50, (n, cursor) => reader.getFeedbackPage(n, cursor));
    expect(there.length).toBeGreaterThan(200);
    expect(sorted(copied)).toEqual(sorted(there));
    expect(checkData(tables).faults).toEqual([]);
    await tables.engine.close();
    await close(node);
  });

  test.skipIf(process.platform !== 'linux')(
    'that fails leaves its file open no longer, wherever it fails',
    async () => {
      const dsn = newDsn();
      const node = await openNode(dsn, tempFolder());
      await node.data.write(putFeedback([feedback('like', 'u', 'i')], true));
      const folder = join(tempFolder(), 'data');
      const isOpen = () =>
        readdirSync('/proc/self/fd').some((fd) => {
          try {
            return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
          } catch {
            return false;
          }
        });
      // While all is copied, in what was committed after it, and in a folder with data of its own.
      const failing = () => {
        expect(isOpen()).toBe(true);
        throw new Error('this test');
      };
      await expect(prepareReplica(dsn, folder, failing)).rejects.toThrow('this test');
      expect(isOpen()).toBe(false);
      await prepareReplica(dsn, folder, () => {});
      expect(isOpen()).toBe(false);
      await node.data.write(putFeedback([feedback('like', 'v', 'i')], true));
      const connection = await Connection.open(dsn, 'test');
      await connection.run(`ALTER TABLE "${dsn.schema}".changes RENAME TO hidden`);
      await expect(prepareReplica(dsn, folder, () => {})).rejects.toThrow();
      expect(isOpen()).toBe(false);
      await connection.run(`ALTER TABLE "${dsn.schema}".hidden RENAME TO changes`);
      await connection.close();
      await close(node);
    },
  );
});
