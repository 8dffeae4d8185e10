import { useState } from 'preact/hooks';
import type { Explanation } from '../../domain/api-schemas.ts';
import { pathOf } from '../api.ts';
import { count, figure, nameOf, percent, recommenderName, time } from '../format.ts';
import { useResource } from '../use-resource.ts';
import { Card, ItemName, State } from './common.tsx';
import { ItemPicker } from './item-picker.tsx';

const AMONG = 100;
/** A part below this is shown as nothing. */
const LEAST = 0.005;

const REASONS: Readonly<Record<string, string>> = {
  hidden: 'It is hidden: show it again on its page.',
  out_of_date: 'It is older than item_ttl allows: a later Timestamp or a longer item_ttl brings it back.',
  read: 'The user has feedback on it already: [recommend] repeat or replacement would bring it back.',
  not_in_category: 'It is not in the category.',
  below_the_cut: 'Others score higher.',
};

/** A recommender with its score, which is a day where it proposes what is new: seconds since the epoch. */
function proposalOf({ Name, Score }: Explanation['Recommenders'][number]): string {
  const day = () => new Date(Score * 1000).toISOString().slice(0, 10);
  return `${recommenderName(Name)} (${Name === 'latest' ? day() : figure(Score)})`;
}

/** Why an item is recommended to a user, or why not. */
export function Why({ userId, itemId }: { userId: string; itemId: string }) {
  const path = pathOf(['api', 'recommend', userId, 'explain', itemId], { n: AMONG });
  const { data, error } = useResource<Explanation>(path);
  if (data === undefined) return <State error={error} loading={error === undefined} />;
  const { WhyNot: whyNot, Parts = [], Titles: titles } = data;
  const parts = Parts.filter(({ Name, Score }) => Name !== 'base' && Math.abs(Score) >= LEAST);
  const largest = Math.max(...data.Contributions.map(({ Share }) => Math.abs(Share)), Number.MIN_VALUE);
  const most = Math.max(...parts.map(({ Score }) => Math.abs(Score)), Number.MIN_VALUE);
  return (
    <div class="why">
      <p>
        <strong>
          {data.Recommended ? `Recommended, at place ${data.Rank + 1}.` : `Not among the first ${AMONG}.`}
        </strong>{' '}
        {whyNot !== undefined && (REASONS[whyNot.Reason] ?? whyNot.Reason)}
        {whyNot?.ReadAt !== undefined && ` Since ${time(whyNot.ReadAt)}.`}
        {data.Score !== undefined && ` Its score is ${figure(data.Score)}.`}
        {whyNot?.Reason === 'below_the_cut' &&
          data.CutScore !== undefined &&
          ` The last of the first ${AMONG} has ${figure(data.CutScore)}.`}
      </p>
      {data.Lift !== undefined && <Lift {...data.Lift} titles={titles} />}
      {data.Recommenders.length > 0 && <p>Proposed by {data.Recommenders.map(proposalOf).join(', ')}.</p>}
      {parts.length > 0 && (
        <>
          <p>What speaks for it (to the right) and against it, beside the user's other candidates:</p>
          <ul class="contributions">
            {parts.map(({ Name, Meaning, Score }) => (
              <li key={Name}>
                <Pull share={Score / most} label={nameOf(Name)} />
                <span class="score">{signed(Score)}</span>
                <span>
                  <strong>{nameOf(Name)}</strong> {Meaning}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {data.Contributions.length > 0 && (
        <>
          <p>What of the user's own pulls towards it, or away:</p>
          <ul class="contributions">
            {data.Contributions.map(({ ItemId, Share }) => (
              <li key={ItemId}>
                <Pull share={Share / largest} label={titles[ItemId] || ItemId} />
                <span class="score">{percent(Share)}</span>
                <ItemName id={ItemId} title={titles[ItemId] ?? ''} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Changes that would bring an item among the first. */
function Lift({
  Likes,
  People,
  titles,
}: NonNullable<Explanation['Lift']> & { titles: Explanation['Titles'] }) {
  return (
    <p>
      {People !== undefined &&
        `If ${count(People)} more people liked it now, it would come before the last of the list. `}
      {People === undefined &&
        Likes.length === 0 &&
        'No single like of what goes with it would bring it into the list, and no number of other people.'}
      {Likes.length > 0 && `A like of any of these would bring it among the first ${AMONG}: `}
      {Likes.map((id) => (
        <ItemName key={id} id={id} title={titles[id] ?? ''} />
      ))}
    </p>
  );
}

/** A bar from the middle: to the right for what speaks for an item, to the left for what speaks against it. @param share -1 to 1 */
function Pull({ share, label }: { share: number; label: string }) {
  const width = `${Math.min(50, 50 * Math.abs(share))}%`;
  return (
    <span class={share < 0 ? 'pull against' : 'pull'} role="img" aria-label={`${label}: ${percent(share)}`}>
      <span style={share < 0 ? { right: '50%', width } : { left: '50%', width }} />
    </span>
  );
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
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
