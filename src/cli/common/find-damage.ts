import type { OpenedFolder } from '../../platform/process/supervisor-notes.ts';

/**
 * Reads stores as a whole, each in a process of its own, to know whether damage is why a command has failed.
 * @returns what is wrong with the first that is damaged, and what to do; undefined where none is, or nobody can tell
 */
export async function findDamage(opened: readonly OpenedFolder[]): Promise<string | undefined> {
  const { describeDamage } = await import('../../store/open/open-store.ts');
  for (const { kind, path } of opened) {
    const damage = await describeDamage(kind, path).catch(() => undefined);
    if (damage !== undefined) return damage;
  }
  return undefined;
}
