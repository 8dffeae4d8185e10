import { useState } from 'preact/hooks';
import type { ActiveUsersView } from '../../domain/activity-schemas.ts';
import type { Preview } from '../../domain/rule-schemas.ts';
import { pathOf } from '../api.ts';
import { usePosted } from '../use-posted.ts';
import { useResource } from '../use-resource.ts';
import { Item, State } from './common.tsx';
import type { Settings } from './rule-form.tsx';

const SHOWN = 10;
const USERS = 3;
const NOBODY = 'somebody new';

/** The lists of three users by the settings of a placement. */
export function PlacementPreview({ name, settings }: { name: string; settings: Settings }) {
  const active = useResource<ActiveUsersView>(pathOf(['api', 'admin', 'activity', 'users'], { n: USERS }));
  const [chosen, setChosen] = useState<readonly (string | undefined)[]>([]);
  const suggested = active.data?.Users.map(({ UserId }) => UserId) ?? [];
  const users = Array.from({ length: USERS }, (_, at) => chosen[at] || suggested[at] || NOBODY);
  const asked = JSON.stringify({ Settings: settings, Users: users });
  const path = pathOf(['api', 'admin', 'placements', name, 'preview'], { n: SHOWN });
  const { data: shown, error } = usePosted<Preview>(path, active.loading ? undefined : asked);
  const choose = (at: number, text: string) =>
    setChosen(users.map((user, other) => (other === at ? text : user)));
  return (
    <>
      <State error={error} loading={shown === undefined && error === undefined} />
      <div class="cards even">
        {users.map((user, at) => (
          <section key={String(at)} aria-label={`Preview ${at + 1}`}>
            <label>
              User {at + 1}
              <input
                type="text"
                value={user}
                onChange={(event) => choose(at, event.currentTarget.value.trim())}
              />
            </label>
            <ol class="preview">
              {shown?.Users[at]?.Items.map((item) => (
                <li key={item.Id}>
                  <Item card={item} />
                </li>
              ))}
            </ol>
            {shown?.Users[at]?.Items.length === 0 && <p class="muted">Nothing to show.</p>}
          </section>
        ))}
      </div>
    </>
  );
}
