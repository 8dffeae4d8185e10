import { expect, test } from 'vitest';
import { MODEL_FORMAT } from '../../src/background/generation/generation-storage.ts';
import type { PartTrainer } from '../../src/background/training/part-trainer.ts';
import { restoreGeneration } from '../../src/background/training/restore-generation.ts';
import { createLogger } from '../../src/platform/log/log.ts';

const log = createLogger('info', { write() {} });
const MARK = { format: MODEL_FORMAT, generation: 3, parts: { als: 'als/3', slim: 'slim/3' }, isWhole: true };

/** A trainer whose shelf holds a generation of which one part cannot be read, or is not there. */
function trainer(
  isShared: boolean,
  load: (name: string) => Promise<unknown>,
  isStopped = false,
  manifest: object = MARK,
): PartTrainer {
  const shelf = { isShared, read: async () => manifest };
  return {
    options: { shelf },
    isStopped,
    load: (_part: string, name: string) => load(name),
  } as unknown as PartTrainer;
}

const broken = async (name: string) => {
  if (name === 'slim/3') throw new Error('no answer within 60 s');
  return { of: name };
};
const absent = async (name: string) => (name === 'slim/3' ? undefined : { of: name });

test('a part of this node that cannot be read is left out', async () => {
  for (const load of [broken, absent])
    expect(await restoreGeneration(trainer(false, load), log)).toMatchObject({
      manifest: { isWhole: false },
      parts: { als: { of: 'als/3' } },
    });
});

test('no generation is taken over from other nodes with a part missing', async () => {
  await expect(restoreGeneration(trainer(true, broken), log)).rejects.toThrow('60 s');
  await expect(restoreGeneration(trainer(true, absent), log)).rejects.toThrow('slim/3 is not there');
});

test('a read that a stop cut off is no fault, and nothing of it is told or taken over', async () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  for (const isShared of [false, true])
    expect(await restoreGeneration(trainer(isShared, broken, true), log)).toBeUndefined();
  expect(lines).toEqual([]);
});

test.each([undefined, MODEL_FORMAT - 1, MODEL_FORMAT + 1])(
  'a generation of model format %s is refused in one line',
  async (format) => {
    const lines: string[] = [];
    const told = createLogger('info', { write: (line: string) => lines.push(line) });
    const other = trainer(false, absent, false, { ...MARK, format, version: '9.0.0' });
    expect(await restoreGeneration(other, told)).toBeUndefined();
    expect(lines).toEqual([
      expect.stringContaining(`generation 3 has model format ${format}, of furze 9.0.0;`),
    ]);
  },
);
