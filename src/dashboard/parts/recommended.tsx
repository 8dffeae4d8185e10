import { useState } from 'preact/hooks';
import type { UserView } from '../../domain/admin-schemas.ts';
import { like, setHidden } from '../actions.ts';
import { recommenderName, short, time } from '../format.ts';
import { addToSession, isStoring, likeType } from '../state.ts';
import { Card, Item, numbers, Score, Table } from './common.tsx';
import { Why } from './why.tsx';

/** Recommendations of a user, with actions on each. */
export function Recommended({ data, reload }: { data: UserView; reload: () => void }) {
  const [asked, setAsked] = useState<string>();
  const userId = data.User.UserId;
  const { List, Pipeline } = data;
  return (
    <Card title={`Recommended to ${short(userId, 60)}`}>
      <p class="muted">
        {List === undefined
          ? 'No list is kept for this user; the fallbacks answer.'
          : `A list of ${List.Length} by generation ${List.Generation}, made ${time(List.MadeAt)}.`}
      </p>
      {Pipeline.length === 0 && (
        <p>Nothing: there is no item that could be recommended. The overview says what is missing.</p>
      )}
      {Pipeline.length > 0 && (
        <Table stacks label="Recommended" head={['', 'Item', ...numbers('Score'), 'Place with', '']}>
          {Pipeline.flatMap((place, rank) => [
            <Place
              key={place.Id}
              place={place}
              rank={rank}
              isAsked={asked === place.Id}
              ask={() => setAsked(asked === place.Id ? undefined : place.Id)}
              like={() => like(userId, place.Id, place.Title, reload)}
              hide={() => setHidden(place.Id, place.Title, true, reload)}
            />,
            asked === place.Id && (
              <tr key={`${place.Id} why`}>
                <td colSpan={5}>
                  <Why userId={userId} itemId={place.Id} />
                </td>
              </tr>
            ),
          ])}
        </Table>
      )}
    </Card>
  );
}

/** One item of the list. */
function Place(props: {
  place: UserView['Pipeline'][number];
  rank: number;
  isAsked: boolean;
  ask: () => void;
  like: () => void;
  hide: () => void;
}) {
  const { place, rank, isAsked, ask, like, hide } = props;
  const { Id, Title, Score: score, Ranks } = place;
  const name = Title || Id;
  return (
    <tr data-item={Id}>
      <td class="muted">{rank + 1}</td>
      <th scope="row">
        <Item card={place} />
      </th>
      <td class="number">
        <Score value={score} />
      </td>
      <td class="ranks">
        {Object.keys(Ranks).length === 0 && <span class="muted">the blend alone</span>}
        {Object.entries(Ranks).map(([name, at]) => (
          <span key={name} class="badge">
            {recommenderName(name)} {at + 1}
          </span>
        ))}
      </td>
      <td class="nowrap actions">
        <Act label={`Why ${name}`} isOpen={isAsked} act={ask} text="Why?" />
        {isStoring.value && (
          <>
            <Act label={`${likeType() ?? 'Like'} ${name}`} act={like} text={likeType() ?? 'Like'} />
            <Act label={`Hide ${name}`} act={hide} text="Hide" />
          </>
        )}
        <Act label={`Add ${name} to the session`} act={() => addToSession(Id, Title)} text="+" />
      </td>
    </tr>
  );
}

function Act(props: { label: string; text: string; act: () => void; isOpen?: boolean }) {
  const { label, text, act, isOpen } = props;
  return (
    <button type="button" class="small outline" aria-expanded={isOpen} aria-label={label} onClick={act}>
      {text}
    </button>
  );
}
