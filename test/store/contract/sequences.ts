import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NOW_MS } from '../helpers.ts';
import { ModelStore } from '../model-store.ts';
import { expectSame, operation, outcome, rulesFor } from './operations.ts';
import type { StoreUnderTest } from './under-test.ts';

/** Sequences of writes and restarts by chance, beside a model of plain maps. */
export function sequences({ open, reopen }: StoreUnderTest): void {
  test('any sequence of operations and restarts does what the model does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 14 }), async (operations) => {
        const model = new ModelStore(rulesFor({ autoInsertUser: true, autoInsertItem: true }), NOW_MS);
        let data = await open();
        for (const each of operations) {
          if (each === 'reopen') data = await reopen(data);
          else expect(await outcome(data, each())).toEqual(await outcome(model, each()));
        }
        await expectSame(data, model);
        await data.close();
      }),
      { numRuns: 10, seed: 7 },
    );
  });
}
