import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { ItemCard, UserHistory, UserView } from '../../domain/admin-schemas.ts';
import type { Preview, RulesView } from '../../domain/rule-schemas.ts';
import { api, pathOf } from '../api.ts';
import { count, recommenderName, short, time, typeName } from '../format.ts';
import { Card, Item, PageHead, State, Table } from '../parts/common.tsx';
import { Recommended } from '../parts/recommended.tsx';
import { SearchInput } from '../parts/record-search.tsx';
import { SessionCard } from '../parts/session-recommend.tsx';
import { WhyNot } from '../parts/why.tsx';
import { go, place } from '../router.ts';
import { isStoring } from '../state.ts';
import { useAttempt } from '../use-attempt.ts';
import { usePosted } from '../use-posted.ts';
import { useResource } from '../use-resource.ts';

const ENTRIES = 20;
/** Records that are asked for at a time. */
const PAGE = 100;
const SUGGESTIONS = 8;
/** Placements that are shown, and entries of each list beside the user's own. */
const SHELVES = 12;
const SHORT = 10;
/** A recommender that is being worked out is asked for again after this time. */
const AGAIN_MS = 2000;

export function TryPage() {
  const userId = place.value[1];
  // Off before anything is drawn, and when the page is left.
  useLayoutEffect(() => {
    const turnOff = () => {
      isStoring.value = false;
    };
    turnOff();
    return turnOff;
  }, []);
  return (
    <>
      <PageHead title="Try it">
        What a user is recommended, and why; what each recommender would say by itself.
      </PageHead>
      <UserChooser chosen={userId ?? ''} />
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          checked={isStoring.value}
          aria-checked={isStoring.value}
          onChange={(event) => {
            isStoring.value = event.currentTarget.checked;
          }}
        />
        Really store: shows buttons that write feedback and hide items. Off at each visit; nothing is stored
        without it.
      </label>
      {userId !== undefined && <OneUser key={userId} userId={userId} />}
      <SessionCard />
    </>
  );
}

function UserChooser({ chosen }: { chosen: string }) {
  const [text, setText] = useState(chosen);
  useEffect(() => setText(chosen), [chosen]);
  const path = pathOf(['api', 'admin', 'users'], { n: SUGGESTIONS, prefix: text });
  const { data, error } = useResource<{ Users: readonly { UserId: string }[] }>(path);
  const choose = (event: Event) => {
    event.preventDefault();
    if (text !== '') go('try', text);
  };
  return (
    <Card wide>
      <form class="filter" onSubmit={choose}>
        <SearchInput label="User id" text={text} type={setText} />
        <button type="submit">Show</button>
      </form>
      <State error={error} loading={false} />
      <p class="suggestions">
        {data?.Users.map(({ UserId }) => (
          <button key={UserId} type="button" class="chip" onClick={() => go('try', UserId)}>
            {UserId}
          </button>
        ))}
      </p>
    </Card>
  );
}

function OneUser({ userId }: { userId: string }) {
  const path = pathOf(['api', 'admin', 'user', userId], { n: ENTRIES });
  const { data, error, reload } = useResource<UserView>(path);
  const isWaiting = data?.Recommenders.some(({ IsWaiting }) => IsWaiting) ?? false;
  // Every answer is a new object: as long as one waits, it is asked again.
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data, isWaiting]);
  if (data === undefined) return <State error={error} loading={error === undefined} />;
  return (
    <>
      <State error={error} loading={false} />
      {!data.Known && <p class="trouble hint">There is no user {userId}: this is what anybody gets.</p>}
      <div class="cards try">
        <Recommended data={data} reload={reload} />
        <History data={data} />
      </div>
      <WhyNot userId={userId} />
      <SideBySide data={data} />
      <Shelves userId={userId} />
    </>
  );
}

function History({ data }: { data: UserView }) {
  const userId = data.User.UserId;
  const [isWhole, setWhole] = useState(false);
  const [older, setOlder] = useState<readonly UserHistory[]>([]);
  const { refusal, attempt } = useAttempt(() => {});
  // Another user, or another first page: what was behind it no longer is.
  useEffect(() => setOlder([]), [userId, data.Cursor]);
  const pages = [data, ...older];
  const all = pages.flatMap(({ History }) => History);
  const shown = isWhole ? all : all.slice(0, ENTRIES);
  const { Cursor } = pages.at(-1)!;
  const more = async () => {
    const path = pathOf(['api', 'admin', 'user', userId, 'feedback'], { n: PAGE, cursor: Cursor });
    const page = await api<UserHistory>(path);
    setOlder((before) => [...before, page]);
  };
  return (
    <Card title={`History of ${short(userId, 60)}`}>
      <p class="muted">
        {count(data.FeedbackCount)} records, {count(data.PositiveCount)} positive
        {shown.length < data.FeedbackCount && `; the last ${count(shown.length)}`}
      </p>
      {all.length > 0 && (
        <Table stacks label="History" head={['Item', 'Feedback', 'Time']}>
          {shown.map(({ FeedbackType, Timestamp, Positive, ...card }) => (
            <tr key={`${card.Id} ${FeedbackType}`}>
              <td>
                <Item card={card} />
              </td>
              <td>
                <span class={`badge ${Positive ? 'done' : ''}`}>{typeName(FeedbackType)}</span>
              </td>
              <td class="nowrap">{time(Timestamp)}</td>
            </tr>
          ))}
        </Table>
      )}
      <State error={refusal} loading={false} />
      {shown.length < all.length && (
        <button type="button" class="small outline" onClick={() => setWhole(true)}>
          Show {all.length}
        </button>
      )}
      {shown.length === all.length && Cursor !== '' && (
        <button type="button" class="small outline" onClick={() => attempt(more)}>
          Show {count(Math.min(PAGE, data.FeedbackCount - all.length))} older
        </button>
      )}
    </Card>
  );
}

function SideBySide({ data }: { data: UserView }) {
  return (
    <Card wide title="Each recommender by itself">
      <div class="columns">
        {data.Recommenders.map(({ Name, Items, InPipeline, IsFallback, IsWaiting }) => (
          <section key={Name}>
            <h3>{recommenderName(Name)}</h3>
            <p class="muted">
              {[InPipeline && 'gives candidates', IsFallback && 'fallback'].filter(Boolean).join(', ') ||
                'not in use'}
            </p>
            <Entries of={Items} none={IsWaiting ? 'Being worked out.' : 'Nothing for this user.'} />
          </section>
        ))}
      </div>
    </Card>
  );
}

function Entries({ of, none }: { of: readonly ItemCard[]; none: string }) {
  if (of.length === 0) return <p class="muted">{none}</p>;
  return (
    <ol>
      {of.slice(0, SHORT).map((card) => (
        <li key={card.Id}>
          <Item card={card} />
        </li>
      ))}
    </ol>
  );
}

/** The lists of the first placements for a user. */
function Shelves({ userId }: { userId: string }) {
  const { data } = useResource<RulesView>('/api/admin/rules');
  const placements = data?.Placements.filter(({ NotInEffect }) => NotInEffect === undefined).slice(
    0,
    SHELVES,
  );
  if (placements === undefined || placements.length === 0) return null;
  return (
    <Card wide title="What placements show">
      <div class="columns">
        {placements.map(({ Name }) => (
          <ShelfOf key={Name} name={Name} userId={userId} />
        ))}
      </div>
    </Card>
  );
}

function ShelfOf({ name, userId }: { name: string; userId: string }) {
  const path = pathOf(['api', 'admin', 'placements', name, 'preview'], { n: SHORT });
  // One that cannot be asked for stays as it is.
  const { Items, Seed } = usePosted<Preview>(path, JSON.stringify({ Users: [userId] })).data?.Users[0] ?? {};
  return (
    <section>
      <h3>{name}</h3>
      {Seed !== undefined && <p class="muted">By {short(Seed, 60)}</p>}
      <Entries of={Items ?? []} none={Items ? 'Nothing for this user.' : 'Being worked out.'} />
    </section>
  );
}
