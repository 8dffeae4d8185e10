import { describe, expect, it } from 'vitest';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { planFile } from '../../src/exchange/import-plan.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';

const plan = (text: string) => planFile('orders.csv', text, true, {});

describe('days as spreadsheets count them', () => {
  it('are taken for times in a column that has the name of one, with a warning', async () => {
    for (const name of ['date', 'InvoiceDate', 'Bestelldatum']) {
      const found = await plan(`user;item;${name}\nann;tea;45292\nbob;tea;45292,75\n`);
      expect(found.timeForm).toBe('excel-days');
      expect(describePlan(found)).toContain('warning, numbers taken for days as Excel counts them');
      expect(recordOf(['a', 'i', '45292'], found)).toMatchObject({
        record: { Timestamp: '2024-01-01T00:00:00.000Z' },
      });
      expect(recordOf(['a', 'i', '45292,75'], found)).toMatchObject({
        record: { Timestamp: '2024-01-01T18:00:00.000Z' },
      });
    }
  });

  it('agree with those that Excel writes', async () => {
    const found = await plan('user,item,date\nann,tea,40513\n');
    // Documented by Microsoft for DATEVALUE and its kin: 25569 is 1970-01-01, 39448 is 2008-01-01, 36526 is 2000-01-01.
    for (const [days, date] of [
      ['25569', '1970-01-01'],
      ['36526', '2000-01-01'],
      ['39448', '2008-01-01'],
    ])
      expect(recordOf(['a', 'i', days], found)).toMatchObject({
        record: { Timestamp: `${date}T00:00:00.000Z` },
      });
    expect(recordOf(['a', 'i', '44927.333333'], found)).toMatchObject({
      record: { Timestamp: '2023-01-01T08:00:00.000Z' },
    });
  });

  it('are nothing of the kind in another column, or beside other numbers', async () => {
    expect((await plan('user,item,quantity\nann,tea,45292\n')).mapping.Timestamp).toBeUndefined();
    await expect(plan('user,item,date\nann,tea,45292\nbob,tea,7\n')).rejects.toThrow(/not understood/);
    expect((await plan('user,item,date\nann,tea,1700000000\n')).timeForm).toBe('seconds');
    expect(recordOf(['a', 'i', '1700000000'], await plan('user,item,date\nann,tea,45292\n'))).toEqual({
      refusal: '"1700000000" is no time',
    });
  });
});
