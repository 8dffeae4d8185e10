import { useState } from 'preact/hooks';
import type { UserView } from '../../domain/admin-schemas.ts';
import type { Explanation } from '../../domain/api-schemas.ts';
import { pathOf } from '../api.ts';
import { figure, percent, recommenderName, time } from '../format.ts';
import { useResource } from '../use-resource.ts';
import { Card, ItemName, State } from './common.tsx';
import { ItemPicker } from './item-picker.tsx';

const AMONG = 100;

const REASONS: Readonly<Record<string, string>> = {
  hidden: 'It is hidden.',
  out_of_date: 'It is older than item_ttl allows.',
  read: 'The user has feedback on it already.',
  not_in_category: 'It is not in the category.',
  below_the_cut: 'Others score higher.',
};

/** Why an item is recommended to a user, or why not. */
export function Why({ userId, itemId, titles }: { userId: string; itemId: string; titles?: UserView }) {
  const path = pathOf(['api', 'recommend', userId, 'explain', itemId], { n: AMONG });
  const { data, error } = useResource<Explanation>(path);
  if (data === undefined) return <State error={error} loading={error === undefined} />;
  const titleOf = (id: string) => titles?.History.find(({ Id }) => Id === id)?.Title ?? '';
  const { WhyNot: whyNot } = data;
  return (
    <div class="why">
      <p>
        <strong>
          {data.Recommended ? `Recommended, at place ${data.Rank + 1}.` : `Not among the first ${AMONG}.`}
        </strong>{' '}
        {whyNot !== undefined && (REASONS[whyNot.Reason] ?? whyNot.Reason)}
        {whyNot?.ReadAt !== undefined && ` Since ${time(whyNot.ReadAt)}.`}
        {data.Score !== undefined && ` The ranking gives it ${figure(data.Score)}.`}
      </p>
      {data.Recommenders.length > 0 && (
        <p>
          Proposed by{' '}
          {data.Recommenders.map(({ Name, Score }) => `${recommenderName(Name)} (${figure(Score)})`).join(
            ', ',
          )}
          .
        </p>
      )}
      {data.Contributions.length > 0 && (
        <>
          <p>What of the user's own pulls towards it:</p>
          <ul class="contributions">
            {data.Contributions.map(({ ItemId, Share }) => (
              <li key={ItemId}>
                <meter
                  min={0}
                  max={1}
                  value={Math.abs(Share)}
                  aria-label={`Share of ${titleOf(ItemId) || ItemId}`}
                />
                <span class="score">{percent(Share)}</span>
                <ItemName id={ItemId} title={titleOf(ItemId)} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Asks why an item that is looked up is not recommended. */
export function WhyNot({ userId }: { userId: string }) {
  const [asked, setAsked] = useState<{ readonly id: string; readonly title: string }>();
  return (
    <Card wide title="Why not?">
      <ItemPicker
        label="Title or id of an item that is missing"
        choose={(id, title) => setAsked({ id, title })}
      />
      {asked !== undefined && (
        <>
          <p>
            <ItemName id={asked.id} title={asked.title} />
          </p>
          <Why key={asked.id} userId={userId} itemId={asked.id} />
        </>
      )}
    </Card>
  );
}
