import type { RulesView } from '../domain/rule-schemas.ts';
import { api, pathOf } from './api.ts';
import { notice } from './state.ts';

/** True where the key of this tab may change placements and experiments. */
export function mayOperate({ Role }: Pick<RulesView, 'Role'>): boolean {
  return Role === 'operate' || Role === 'own';
}

/** Takes back the last change of a placement or an experiment. */
export async function undoRule(
  kind: 'placements' | 'experiments',
  name: string,
  done: () => void,
): Promise<void> {
  try {
    await api(pathOf(['api', 'admin', kind, name, 'undo']), 'POST');
  } catch (error) {
    notice.value = { text: (error as Error).message };
  }
  done();
}
