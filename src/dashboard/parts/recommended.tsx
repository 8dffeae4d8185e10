import { useState } from 'preact/hooks';
import type { UserView } from '../../domain/admin-schemas.ts';
import { like, setHidden } from '../actions.ts';
import { recommenderName, time } from '../format.ts';
import { addToSession, likeType } from '../state.ts';
import { Card, ItemName, numbers, Score, Table } from './common.tsx';
import { Why } from './why.tsx';

/** What a user is recommended, with what can be done about each. */
export function Recommended({ data, reload }: { data: UserView; reload: () => void }) {
  const [asked, setAsked] = useState<string>();
  const userId = data.User.UserId;
  const { List, Pipeline } = data;
  return (
    <Card title={`Recommended to ${userId}`}>
      <p class="muted">
        {List === undefined
          ? 'No list is kept for this user; the fallbacks answer.'
          : `A list of ${List.Length} by generation ${List.Generation}, made ${time(List.MadeAt)}.`}
      </p>
      <Table label="Recommended" head={['', 'Item', ...numbers('Score'), 'Place with', '']}>
        {Pipeline.flatMap(({ Id, Title, Score: score, Ranks }, rank) => [
          <tr key={Id} data-item={Id}>
            <td class="muted">{rank + 1}</td>
            <th scope="row">
              <ItemName id={Id} title={Title} />
            </th>
            <td class="number">
              <Score value={score} />
            </td>
            <td class="ranks">
              {Object.entries(Ranks).map(([name, place]) => (
                <span key={name} class="badge">
                  {recommenderName(name)} {place + 1}
                </span>
              ))}
            </td>
            <td class="nowrap actions">
              <button
                type="button"
                class="small outline"
                aria-expanded={asked === Id}
                aria-label={`Why ${Title || Id}`}
                onClick={() => setAsked(asked === Id ? undefined : Id)}
              >
                Why?
              </button>
              <button
                type="button"
                class="small outline"
                aria-label={`${likeType() ?? 'Like'} ${Title || Id}`}
                onClick={() => like(userId, Id, Title, reload)}
              >
                {likeType() ?? 'Like'}
              </button>
              <button
                type="button"
                class="small outline"
                aria-label={`Hide ${Title || Id}`}
                onClick={() => setHidden(Id, Title, true, reload)}
              >
                Hide
              </button>
              <button
                type="button"
                class="small outline"
                aria-label={`Add ${Title || Id} to the session`}
                onClick={() => addToSession(Id, Title)}
              >
                +
              </button>
            </td>
          </tr>,
          asked === Id && (
            <tr key={`${Id} why`}>
              <td colSpan={5}>
                <Why userId={userId} itemId={Id} titles={data} />
              </td>
            </tr>
          ),
        ])}
      </Table>
    </Card>
  );
}
