import { useRef, useState } from 'preact/hooks';
import type { RecentEvent, RecentEventsView } from '../../domain/activity-schemas.ts';
import { pathOf } from '../api.ts';
import { count, short, time, typeName } from '../format.ts';
import { Card, Item, PageHead, State, Table } from '../parts/common.tsx';
import { href } from '../router.ts';
import { useEvents } from '../use-events.ts';

const SHOWN = 50;
const PATH = pathOf(['api', 'admin', 'activity', 'stream'], { n: SHOWN });

interface Shown {
  readonly records: readonly RecentEvent[];
  /** Records that came faster than they are told. */
  readonly missed: number;
}

/** Feedback as it comes, with the answer that each has changed. */
export function LivePage() {
  const [shown, setShown] = useState<Shown>();
  const [held, setHeld] = useState<Shown>();
  const latest = useRef<Shown>({ records: [], missed: 0 });
  const error = useEvents<RecentEventsView>(PATH, ({ Feedback, Missed = 0 }, isFirst) => {
    const { records, missed } = latest.current;
    latest.current = isFirst
      ? { records: Feedback, missed: 0 }
      : { records: [...Feedback, ...records].slice(0, SHOWN), missed: missed + Missed };
    setShown(latest.current);
  });
  const { records = [], missed = 0 } = held ?? shown ?? {};
  return (
    <>
      <PageHead title="Live">
        Feedback as it comes, the latest first, and what the user is recommended since: what is new to the
        list is marked. A click on a user shows the whole list, and why.
      </PageHead>
      <Card
        wide
        aside={
          <button type="button" class="small outline" onClick={() => setHeld(held ? undefined : shown)}>
            {held ? 'Go on' : 'Hold'}
          </button>
        }
        title={held ? 'Held' : 'As it comes'}
      >
        <State error={error} loading={shown === undefined && error === undefined} />
        {shown !== undefined && records.length === 0 && (
          <p class="muted">No feedback has come since the start.</p>
        )}
        {missed > 0 && <p class="muted">{count(missed)} more came at once and are not listed.</p>}
        {records.length > 0 && (
          <Table
            stacks
            label="Feedback as it comes"
            head={['User', 'Feedback', 'Item', 'Came', 'Is recommended since']}
          >
            {records.map((record) => (
              <Came key={record.Number} record={record} />
            ))}
          </Table>
        )}
      </Card>
    </>
  );
}

function Came({ record }: { record: RecentEvent }) {
  const { UserId, FeedbackType, Positive, Timestamp, CameAt, Answer } = record;
  return (
    <tr>
      <th scope="row">
        <a class="item" href={href('try', UserId)}>
          {short(UserId, 60)}
        </a>
      </th>
      <td>
        <span class={`badge ${Positive ? 'done' : ''}`}>{typeName(FeedbackType)}</span>
      </td>
      <td>
        <Item card={record} />
      </td>
      <td class="nowrap" title={`Of ${time(Timestamp)}`}>
        {moment(CameAt)}
      </td>
      <td>{Answer !== undefined && <Since answer={Answer} />}</td>
    </tr>
  );
}

/** The user's list since, with the items that are new to it. */
function Since({ answer: { Items, New } }: { answer: NonNullable<RecentEvent['Answer']> }) {
  return (
    <span class="names-cell">
      {Items.map(({ Id, Title }, at) => (
        <span key={Id}>
          {at > 0 && ', '}
          {short(Title || Id, 50)}
          {New?.includes(Id) && (
            <>
              {' '}
              <span class="badge done">new</span>
            </>
          )}
        </span>
      ))}
      {New?.length === 0 && <span class="muted"> (as before)</span>}
    </span>
  );
}

/** The time of day to the second, or of another day the whole time. */
function moment(text: string): string {
  const date = new Date(text);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString('en-GB') : time(text);
}
