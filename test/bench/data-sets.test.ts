import { describe, expect, it } from 'vitest';
import { parseLibfm } from '../../bench/data-sets/libfm.ts';
import { parseLightgcn } from '../../bench/data-sets/lightgcn.ts';
import { parseNcfNegatives, parseNcfRatings } from '../../bench/data-sets/ncf.ts';
import { parseRatings } from '../../bench/data-sets/ratings.ts';

describe('rating files', () => {
  const expected = {
    userIds: ['a', 'b'],
    itemIds: ['x', 'y'],
    userRows: [0, 1, 0],
    itemRows: [0, 0, 1],
    ratings: [5, 3.5, 0],
    times: [10, 20, 30],
  };

  it.each([
    ['MovieLens .dat', 'a::x::5::10\nb::x::3.5::20\na::y::0::30\n'],
    ['MovieLens .csv', 'userId,movieId,rating,timestamp\r\na,x,5,10\r\nb,x,3.5,20\r\na,y,0,30\r\n'],
    ['tab-separated without a header', 'a\tx\t5\t10\nb\tx\t3.5\t20\n\na\ty\t0\t30'],
    ['another order of columns', 'ts;item_id;user_id;score\n10;x;a;5\n20;x;b;3.5\n30;y;a;0'],
  ])('are read as %s', (_name, text) => {
    expect(parseRatings(text)).toEqual(expected);
  });

  it('may have no rating and no time, or dates', () => {
    expect(parseRatings('a,x\nb,y').ratings).toEqual([1, 1]);
    expect(parseRatings('user,item,date\na,x,2020-01-02').times).toEqual([Date.UTC(2020, 0, 2)]);
    expect(parseRatings('').userRows).toEqual([]);
  });

  it('are refused with the line that is wrong', () => {
    expect(() => parseRatings('a::x::5::1\nb::::5::1')).toThrow('line 2');
    expect(() => parseRatings('a,x,1,1\nb,x,good,1')).toThrow('line 2: "good"');
  });
});

describe('NCF files', () => {
  it('are read', () => {
    expect(parseNcfRatings('0\t25\t5\t978824351\n1\t3\t4\t97\n')).toEqual({
      userRows: [0, 1],
      itemRows: [25, 3],
    });
    expect(parseNcfNegatives('(0,25)\t1064\t174\n')).toEqual([
      { userRow: 0, itemRow: 25, negativeRows: Uint32Array.of(1064, 174) },
    ]);
  });

  it('are refused with the line that is wrong', () => {
    expect(() => parseNcfRatings('0\t1\n-1\t2')).toThrow('line 2');
    expect(() => parseNcfNegatives('0,25 3')).toThrow('no pair');
    expect(() => parseNcfNegatives('(0,25)\t1\n(1,2)3\t4')).toThrow('line 2');
    expect(() => parseNcfNegatives('(0,25)\t1\tx')).toThrow('line 1: "x"');
  });

  it('may end lines as Windows does, and hold blanks where nobody looks', () => {
    expect(parseNcfRatings('0\t25\t5\t97 \r\n\r\n1\t3\t4.0\t97\r\n\n')).toEqual({
      userRows: [0, 1],
      itemRows: [25, 3],
    });
    expect(parseNcfNegatives('(0, 25)\t7\t8\t\r\n \r\n(1,3) 9\r\n(2,4)\r\n')).toEqual([
      { userRow: 0, itemRow: 25, negativeRows: Uint32Array.of(7, 8) },
      { userRow: 1, itemRow: 3, negativeRows: Uint32Array.of(9) },
      { userRow: 2, itemRow: 4, negativeRows: new Uint32Array(0) },
    ]);
  });
});

describe('LightGCN files', () => {
  it('are read, with users that have no item', () => {
    expect(parseLightgcn('0 5 6\n1\n2 5 \n')).toEqual({ userRows: [0, 0, 2], itemRows: [5, 6, 5] });
  });

  it('may end lines as Windows does, and hold blank lines', () => {
    expect(parseLightgcn('0 5 6 \r\n1 \r\n\r\n2\t5\r\n\n')).toEqual({
      userRows: [0, 0, 2],
      itemRows: [5, 6, 5],
    });
  });
});

describe('libfm files', () => {
  it('are read, whatever stands for a negative label', () => {
    const rows = parseLibfm('1 0:1 7:0.5\n-1 3:1\n0 1:2\n');
    expect(rows).toEqual({
      targets: Float32Array.of(1, 0, 0),
      starts: Uint32Array.of(0, 2, 3, 4),
      features: Uint32Array.of(0, 7, 3, 1),
      values: Float32Array.of(1, 0.5, 1, 2),
      featureCount: 8,
    });
  });

  it('are refused with the line that is wrong', () => {
    expect(() => parseLibfm('1 0:1\n1 7')).toThrow('line 2');
    expect(() => parseLibfm('yes 0:1')).toThrow('line 1');
  });
});
