import { describe, expect, it } from 'vitest';
import { describePlan, type FilePlan, planFile, type Wishes } from '../../src/exchange/plan.ts';
import { recordOf } from '../../src/exchange/records.ts';

const plan = (head: string, wishes: Wishes = {}): Promise<FilePlan> => planFile('a.csv', head, true, wishes);

describe('the guess of what a file holds', () => {
  it('finds feedback by the names of its columns', async () => {
    const found = await plan('ts,uid,sku,stars\n1700000000,ann,tea,5\n', { ratingMin: 4 });
    expect(found).toMatchObject({ kind: 'feedback', hasHeader: true, timeUnit: 'seconds' });
    expect(found.mapping).toEqual({ UserId: 1, ItemId: 2, Timestamp: 0, Rating: 3 });
    expect(describePlan(found)).toBe(
      'feedback: UserId from "uid", ItemId from "sku", Timestamp from "ts" (seconds), Rating from "stars", "like" from a rating of 4 on, else "read"',
    );
  });

  it.each([
    ['1700000000', 'seconds'],
    ['1700000000000', 'milliseconds'],
    ['2024-05-01 10:00:00', 'date'],
  ])('takes times such as %s as %s', async (time, unit) => {
    expect((await plan(`user,item,time\nann,tea,${time}\n`)).timeUnit).toBe(unit);
  });

  it('tells the unit by the column: one small number in it changes nothing', async () => {
    const found = await plan('user,item,time\nann,tea,1\nbob,tea,1700000000\n');
    expect(found.timeUnit).toBe('seconds');
    expect(recordOf(['ann', 'tea', '1'], found)).toMatchObject({
      record: { Timestamp: '1970-01-01T00:00:01.000Z' },
    });
  });

  it.each([
    ['::', 'u::i::4::1700000000\n'],
    ['\t', 'u\ti\t4\t1700000000\n'],
    [';', 'user;item;labels\nu;i;a|b\n'],
    [',', 'id,labels,name\ni,a|b,x\n'],
  ])('splits at %j', async (delimiter, head) => {
    expect((await plan(head)).format).toMatchObject({ delimiter });
  });

  it('takes JSON in the form of the API as it is, and maps other keys', async () => {
    expect(await plan('{"UserId":"ann","ItemId":"tea"}\n')).toMatchObject({
      isApiForm: true,
      kind: 'feedback',
    });
    const other = await plan('{"uid":"ann","sku":"tea","when":1700000000}\n');
    expect(other).toMatchObject({ isApiForm: false, timeUnit: 'seconds' });
    expect(recordOf(['ann', 'tea', 1700000000], other)).toMatchObject({
      record: { UserId: 'ann', ItemId: 'tea', Timestamp: '2023-11-14T22:13:20.000Z' },
    });
  });

  it.each([
    ['a,b\nx,y\n', { kind: 'items', hasHeader: true, map: { item: 'c' } }, /no column "c"; it has a, b/],
    ['a,b\nx,y\n', { map: { price: 'a' } }, /feedback have no field "price"/],
    [
      'title,genres\nx,y\n',
      { kind: 'items' },
      /no column looks like the ItemId of items; name it with --map item=COLUMN/,
    ],
    ['user,item,time\nann,tea,yesterday\n', {}, /times in "time" \(such as "yesterday"\) are not understood/],
    ['\n', {}, /holds no rows/],
  ] as const)('refuses %j with %j', async (head, wishes, message) => {
    await expect(plan(head, wishes as Wishes)).rejects.toThrow(message);
  });
});
