import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CheckedCommand } from '../../../src/store/check-command.ts';
import { CommitLog } from '../../../src/store/postgres/commit-log.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { feedback, PLAIN_RULES, passed, putFeedback, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

function like(userId: string, itemId: string, Comment = ''): CheckedCommand {
  return { kind: 'putFeedback', overwrite: true, feedback: [feedback('like', userId, itemId, { Comment })] };
}

describe.skipIf(!HAS_POSTGRES)('groups under way at the same time', () => {
  test('two that have nothing to do with each other wait for one turn, and a third waits for the first', async () => {
    const dsn = newDsn();
    await openNode(dsn, tempFolder());
    const log = new CommitLog(dsn, PLAIN_RULES, 'disk');
    const other = await Connection.open(dsn, 'test');
    // A transaction sees the same activity all the time.
    const watch = await Connection.open(dsn, 'test');
    await log.write([like('anna', 'a'), like('bert', 'a')]);
    await log.write([like('anna', 'b')]);
    await other.run(`BEGIN; SELECT 1 FROM "${dsn.schema}".head FOR UPDATE`);
    const groups = [
      [like('anna', 'a', 'again')],
      [like('bert', 'b')],
      [{ kind: 'deleteUser', userId: 'anna' } as const],
    ];
    const writes = groups.map((commands) => log.write(commands));
    const turns = async () => {
      const text = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`;
      const [row] = await watch.rows<[number]>(text, [`CALL "${dsn.schema}".%`]);
      return row![0];
    };
    await expect.poll(turns, { timeout: 600_000 }).toBe(2);
    await other.run('COMMIT');
    const [first, second, third] = await Promise.all(writes);
    expect([first!.commit!.position, second!.commit!.position].sort()).toEqual([3, 4]);
    expect(third!.commit!.position).toBe(5);
    expect(third!.answers).toEqual([{ rowAffected: 1, removed: [] }]);
    await log.close();
    await other.close();
    await watch.close();
  });

  test('what is written to one pair, or inserted, comes in the order in which it was sent', async () => {
    const { data } = await openNode(newDsn(), tempFolder());
    const writes: Promise<unknown>[] = [];
    for (let at = 0; at < 300; at++) {
      const Comment = String(at);
      const other = feedback('like', `u${at % 7}`, `i${at % 50}`);
      writes.push(
        data.write(putFeedback([feedback('like', 'anna', `a${at % 3}`, { Comment }), other], true)),
      );
      if (at % 4 === 0) await nextTurn();
    }
    await Promise.all(writes);
    await passed(data);
    const found = await data.getUserFeedback('anna');
    expect(found.map(({ Comment }) => Comment)).toEqual(['297', '298', '299']);
  });
});
