import type { Trouble } from '../../domain/admin-schemas.ts';
import { CopyButton } from './common.tsx';

const SETTING = /positive_feedback_types = \[[^\]]*\]/;

/** Troubles, one line each, with what to do. */
export function Troubles({ troubles }: { troubles: readonly Trouble[] }) {
  if (troubles.length === 0) return null;
  return (
    <ul class="troubles">
      {troubles.map(({ Code, Severity, Message, Advice }) => {
        const setting = SETTING.exec(Advice)?.[0];
        return (
          <li key={Code} class={`trouble ${Severity}`}>
            <strong>{Message}</strong> {Advice}
            {setting !== undefined && <CopyButton text={`[recommend.data_source]\n${setting}\n`} />}
          </li>
        );
      })}
    </ul>
  );
}
