import { describe, expect, it } from 'vitest';
import { Movement } from '../../src/recommend/state/in-memory-state.ts';

describe('movement', () => {
  it('is each like where there are few, and of many some', () => {
    const movement = new Movement();
    movement.note(1, 100, 7);
    expect(movement.lastMs).toBe(7);
    for (let at = 0; at < 3; at++) movement.note(1, 2000, 8);
    expect(movement.lastMs).toBe(7);
    movement.note(1, 2000, 9);
    expect(movement.lastMs).toBe(9);
    movement.note(0, 100, 10);
    expect(movement.lastMs).toBe(9);
  });
});
