import { describe, expect, test } from 'vitest';
import { ARENA_START, Arena, alignedBytes } from '../../src/memory/arena.ts';
import {
  type ArrayPlan,
  arrayOf,
  layOut,
  plannedBytes,
  rowOf,
  rowOffset,
  viewOf,
} from '../../src/memory/memory-layout.ts';
import { createSharedMemory, PAGE_BYTES } from '../../src/memory/shared-memory.ts';

test('a shared memory has whole pages and can be shared', () => {
  const memory = createSharedMemory(PAGE_BYTES + 1);
  expect(memory.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(memory.buffer.byteLength).toBe(2 * PAGE_BYTES);
});

test.each([0, -1, Number.NaN, 2 ** 32 + 1])('a memory of %d bytes is refused', (bytes) => {
  expect(() => createSharedMemory(bytes)).toThrow(RangeError);
});

describe('arena', () => {
  test('hands out aligned ranges that do not overlap', () => {
    const arena = new Arena(createSharedMemory(PAGE_BYTES));
    expect(arena.alloc(5)).toBe(ARENA_START);
    expect(arena.alloc(4)).toBe(ARENA_START + 16);
    expect(arena.alloc(8, 64)).toBe(128);
    expect(arena.alloc(0, 1)).toBe(136);
    expect(alignedBytes(5)).toBe(16);
  });

  test('throws when out of room and stays usable', () => {
    const arena = new Arena(createSharedMemory(PAGE_BYTES));
    expect(() => arena.alloc(PAGE_BYTES)).toThrow(/no room for 65536 bytes: 65472 are free/);
    expect(() => arena.alloc(-1)).toThrow(RangeError);
    expect(arena.alloc(PAGE_BYTES - ARENA_START)).toBe(ARENA_START);
    expect(arena.freeBytes).toBe(0);
  });

  test('keeps to its own range', () => {
    const arena = new Arena(createSharedMemory(PAGE_BYTES), 1024, 2048);
    expect(arena.alloc(1000)).toBe(1024);
    expect(() => arena.alloc(100)).toThrow(RangeError);
  });
});

describe('layout', () => {
  const memory = createSharedMemory(PAGE_BYTES);
  const few: ArrayPlan[] = [
    ['factors', 'f32', [3, 4]],
    ['starts', 'u32', [4]],
  ];

  test('describes arrays that views then find, after a copy as a message makes it', () => {
    const layout = structuredClone(layOut(memory, few));
    viewOf(memory, layout, 'factors', 'f32').fill(2);
    expect(viewOf(memory, layout, 'starts', 'u32')).toEqual(new Uint32Array(4));
    expect(viewOf(memory, layout, 'factors', 'f32')).toEqual(new Float32Array(12).fill(2));
    expect(arrayOf(layout, 'factors').shape).toEqual([3, 4]);
  });

  test('refuses names taken and unknown, and other types', () => {
    expect(() => layOut(memory, [...few, ['starts', 'u32', [1]]])).toThrow(/already/);
    const layout = layOut(memory, few);
    expect(() => arrayOf(layout, 'toString')).toThrow(/no array/);
    expect(() => viewOf(memory, layout, 'starts', 'f32')).toThrow(/holds u32/);
  });

  test('finds a view and an offset of each row, which do not overlap', () => {
    const plans: ArrayPlan[] = [
      ['pads', 'u8', [3]],
      ['doubles', 'f64', [3, 5]],
      ['cubes', 'u32', [2, 3, 4]],
    ];
    const memory = createSharedMemory(plannedBytes(plans));
    const layout = layOut(memory, plans);
    for (const row of [0, 1, 2]) rowOf(memory, layout, 'doubles', row, 'f64').fill(row);
    expect([...viewOf(memory, layout, 'doubles', 'f64')]).toEqual(
      [0, 1, 2].flatMap((row) => Array(5).fill(row)),
    );
    expect(rowOf(memory, layout, 'doubles', 2, 'f64').byteOffset).toBe(rowOffset(layout, 'doubles', 2));
    const cube = rowOf(memory, layout, 'cubes', 1, 'u32');
    expect([cube.length, cube.byteOffset]).toEqual([12, arrayOf(layout, 'cubes').offset + 48]);
    expect(() => rowOf(memory, layout, 'cubes', 0, 'f64')).toThrow(/holds u32/);
  });
});
