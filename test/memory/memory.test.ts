import { describe, expect, test } from 'vitest';
import { ARENA_START, Arena, alignedBytes } from '../../src/memory/arena.ts';
import { arrayOf, LayoutBuilder, viewOf } from '../../src/memory/layout.ts';
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
  const build = () => {
    const memory = createSharedMemory(PAGE_BYTES);
    const builder = new LayoutBuilder(new Arena(memory));
    builder.add('factors', 'f32', [3, 4]);
    builder.add('starts', 'u32', [4]);
    return { memory, builder };
  };

  test('describes arrays that views then find, after a copy as a message makes it', () => {
    const { memory, builder } = build();
    const layout = structuredClone(builder.finish());
    viewOf(memory, layout, 'factors', 'f32').fill(2);
    expect(viewOf(memory, layout, 'starts', 'u32')).toEqual(new Uint32Array(4));
    expect(viewOf(memory, layout, 'factors', 'f32')).toEqual(new Float32Array(12).fill(2));
    expect(arrayOf(layout, 'factors').shape).toEqual([3, 4]);
  });

  test('refuses names taken and unknown, and other types', () => {
    const { memory, builder } = build();
    expect(() => builder.add('starts', 'u32', [1])).toThrow(/already/);
    const layout = builder.finish();
    expect(() => arrayOf(layout, 'toString')).toThrow(/no array/);
    expect(() => viewOf(memory, layout, 'starts', 'f32')).toThrow(/holds u32/);
  });
});
