import { expect, it } from 'vitest';
import { BusyUsers } from '../../src/exchange/busy-users.ts';

function found(rows: Readonly<Record<string, number>>) {
  const users = new BusyUsers();
  for (const [id, count] of Object.entries(rows)) for (let at = 0; at < count; at++) users.add(id);
  const { nobody, busiest } = users.find();
  return [[...nobody], busiest?.id];
}
const some = (from: number, to: number, rows = 2) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, at) => [String(from + at), rows]));

it('knows ids that mean nobody, and a zero that is not the first of the users', () => {
  for (const id of ['guest', 'NULL', 'None', 'anonymous', '-1', 'Walk-in'])
    expect(found({ ...some(100, 110), [id]: 3 })).toEqual([[[id, 3]], undefined]);
  expect(found({ ...some(100, 110), 0: 1 })).toEqual([[['0', 1]], undefined]);
  expect(found({ ...some(0, 50) })).toEqual([[], undefined]);
  expect(found({ ...some(1, 50), 0: 5 })).toEqual([[['0', 5]], undefined]);
  expect(found({ guest: 5 })).toEqual([[], undefined]);
  expect(found({ guestav: 5, nano: 2 })).toEqual([[], undefined]);
});

it('finds the one that has a tenth of all rows and many times those of any other, among more users than it counts', () => {
  expect(found({ ...some(1, 50), Kasse: 40 })).toEqual([[], 'Kasse']);
  expect(found({ ...some(1, 50), Kasse: 9 })).toEqual([[], undefined]);
  expect(found({ ...some(1, 10), Kasse: 40 })).toEqual([[], undefined]);
  expect(found({ ...some(1, 5000), Kasse: 5000 })).toEqual([[], 'Kasse']);
});
