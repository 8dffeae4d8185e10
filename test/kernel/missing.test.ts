import { expect, test, vi } from 'vitest';

vi.mock('node:fs', async (original) => ({ ...(await original<object>()), existsSync: () => false }));

test('a program without its kernels says so and how to have them', async () => {
  const { automaticChoice } = await import('../../src/kernel/load-kernels.ts');
  expect(() => automaticChoice()).toThrow(/kernels\.wasm is missing: install furze again/);
});
