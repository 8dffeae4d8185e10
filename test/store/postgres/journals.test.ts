import { expect, test } from 'vitest';
import { code, passed, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const write = (text: string, after?: number) =>
  ({ kind: 'writeJournals', appends: [{ journal: 'a', text, most: 5, after }] }) as const;

test.skipIf(!HAS_POSTGRES)(
  'nodes see the entries of others, and one that comes later all of them',
  async () => {
    const dsn = newDsn();
    const { data: one } = await openNode(dsn, tempFolder());
    const { data: two } = await openNode(dsn, tempFolder());
    const told: string[] = [];
    two.onChange(({ journals }) => {
      told.push(...journals);
      return undefined;
    });
    await one.write(write('first', 0));
    await passed(two);
    expect(two.local.journal('a')).toEqual([{ number: 1, text: 'first' }]);
    expect(told).toEqual(['a']);
    await expect(two.write(write('late', 0))).rejects.toEqual(code('CHANGED_MEANWHILE'));
    const outcomes = await Promise.allSettled([one.write(write('left', 1)), two.write(write('right', 1))]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { data: three } = await openNode(dsn, tempFolder());
    await Promise.all([passed(one), passed(two)]);
    expect(three.local.journal('a')).toHaveLength(2);
    expect(two.local.journal('a')).toEqual(one.local.journal('a'));
    expect(three.local.journal('a')).toEqual(one.local.journal('a'));
    for (const node of [one, two, three]) await node.close();
  },
);
