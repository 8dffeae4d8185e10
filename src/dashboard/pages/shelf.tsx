import { useState } from 'preact/hooks';
import type { ActiveUsersView } from '../../domain/activity-schemas.ts';
import type { ItemCard, TitledScore, UserView } from '../../domain/admin-schemas.ts';
import type { Preview, RulesView } from '../../domain/rule-schemas.ts';
import { pathOf } from '../api.ts';
import { short } from '../format.ts';
import { Card, PageHead, State } from '../parts/common.tsx';
import { ItemPicker } from '../parts/item-picker.tsx';
import { SearchInput } from '../parts/record-search.tsx';
import { go, place } from '../router.ts';
import { likeType } from '../state.ts';
import { usePosted } from '../use-posted.ts';
import { useResource } from '../use-resource.ts';

const ITEMS = 12;
const SUGGESTIONS = 5;
/** In the address: somebody who is made up. Ids stand behind a sign of their own. */
const MADE_UP = 'made-up';
const USER = 'user:';
/** Nobody has this id: what anybody gets. */
const STRANGER = crypto.randomUUID();

/** Two shelves side by side, as customers would see them. */
export function ShelfPage() {
  const [, first, second = MADE_UP] = place.value;
  const path = pathOf(['api', 'admin', 'activity', 'users'], { n: SUGGESTIONS });
  const active = useResource<ActiveUsersView>(path).data?.Users.map(({ UserId }) => UserId) ?? [];
  const known = useResource<{ Users: readonly { UserId: string }[] }>(
    pathOf(['api', 'admin', 'users'], { n: SUGGESTIONS }),
  );
  const suggested = active.length > 0 ? active : (known.data?.Users.map(({ UserId }) => UserId) ?? []);
  const left = first ?? (suggested[0] === undefined ? undefined : USER + suggested[0]);
  return (
    <>
      <PageHead title="Shelf">
        What two customers would see, side by side: real ones, or one you make up; or one customer by two
        settings. Nothing is stored.
      </PageHead>
      <State error={known.error} loading={known.loading} />
      <div class="cards even shelves">
        {left !== undefined && (
          <Shelf name="First" of={left} suggested={suggested} choose={(of) => go('shelf', of, second)} />
        )}
        {left !== undefined && (
          <Shelf name="Second" of={second} suggested={suggested} choose={(of) => go('shelf', left, of)} />
        )}
      </div>
    </>
  );
}

interface ShelfProps {
  readonly name: string;
  /** As the address has it. */
  readonly of: string;
  readonly suggested: readonly string[];
  readonly choose: (of: string) => void;
}

function Shelf({ name, of, suggested, choose }: ShelfProps) {
  const isMadeUp = of === MADE_UP;
  const [text, setText] = useState('');
  const [basket, setBasket] = useState<readonly ItemCard[]>([]);
  const show = (event: Event) => {
    event.preventDefault();
    if (text !== '') choose(USER + text);
  };
  const userId = of.slice(USER.length);
  return (
    <Card title={isMadeUp ? 'Somebody new' : short(userId, 40)}>
      <form class="filter" onSubmit={show}>
        <SearchInput label={`${name} customer, by id`} text={text} type={setText} />
        <button type="submit">Show</button>
      </form>
      <p class="suggestions">
        {suggested.map((id) => (
          <button
            key={id}
            type="button"
            class={of === USER + id ? 'chip chosen' : 'chip'}
            aria-pressed={of === USER + id}
            onClick={() => choose(USER + id)}
          >
            {short(id, 24)}
          </button>
        ))}
        <button
          type="button"
          class={isMadeUp ? 'chip chosen' : 'chip'}
          aria-pressed={isMadeUp}
          onClick={() => choose(MADE_UP)}
        >
          made up
        </button>
      </p>
      {isMadeUp ? (
        <MadeUp basket={basket} change={setBasket} />
      ) : (
        <BySetting key={userId} name={name} userId={userId} />
      )}
    </Card>
  );
}

/** Amounts of discovery that are compared. */
const DISCOVERIES = [0, 0.25, 0.5, 0.75, 1];
/** A name of no placement, for settings that are tried and never kept. */
const TRIED = 'shelf';

/** The list of a user by the settings in effect, by a placement, or with so much discovery. */
function BySetting({ name, userId }: { name: string; userId: string }) {
  const [setting, setSetting] = useState('');
  const placements = useResource<RulesView>('/api/admin/rules').data?.Placements ?? [];
  return (
    <>
      <label>
        {name} setting
        <select value={setting} onChange={(event) => setSetting(event.currentTarget.value)}>
          <option value="">as it is</option>
          {placements.map(({ Name }) => (
            <option key={Name} value={`=${Name}`}>
              placement {Name}
            </option>
          ))}
          {DISCOVERIES.map((share) => (
            <option key={share} value={String(share)}>
              discovery {share}
            </option>
          ))}
        </select>
      </label>
      {setting === '' ? (
        <OfUser userId={userId} />
      ) : (
        <Tried key={setting} setting={setting} userId={userId} />
      )}
    </>
  );
}

function Tried({ setting, userId }: { setting: string; userId: string }) {
  const isPlacement = setting.startsWith('=');
  const path = ['api', 'admin', 'placements', isPlacement ? setting.slice(1) : TRIED, 'preview'];
  const Settings = isPlacement ? undefined : { discovery: Number(setting) };
  const body = JSON.stringify({ Settings, Users: [userId] });
  const { data, error } = usePosted<Preview>(pathOf(path, { n: ITEMS }), body);
  const [shown] = data?.Users ?? [];
  if (shown === undefined) return <State error={error} loading={error === undefined} />;
  return (
    <Goods items={shown.Items.map((item) => ({ ...item, reason: item.Reason }))} none="Nothing to show." />
  );
}

function OfUser({ userId }: { userId: string }) {
  const { data, error, loading } = useResource<UserView>(
    pathOf(['api', 'admin', 'user', userId], { n: ITEMS }),
  );
  if (data === undefined) return <State error={error} loading={loading} />;
  const likes = data.History.filter(({ Positive }) => Positive);
  return (
    <>
      <p class="muted">
        {!data.Known &&
          (userId === STRANGER ? 'Anybody gets:' : 'Nobody has this id: this is what anybody gets. ')}
        {likes.length > 0 && `Last liked: ${likes.slice(0, 3).map(nameOf).join(', ')}`}
      </p>
      <Goods
        items={data.Pipeline.map((item) => ({ ...item, reason: item.Reason }))}
        none="Nothing can be recommended yet; the overview says what is missing."
      />
    </>
  );
}

/** A made-up user who has bought what is put into a basket here. */
function MadeUp(props: { basket: readonly ItemCard[]; change: (basket: readonly ItemCard[]) => void }) {
  const { basket, change } = props;
  const FeedbackType = likeType() ?? 'like';
  const records = basket.map(({ Id }) => ({ FeedbackType, ItemId: Id, UserId: '', Timestamp: '' }));
  const path = pathOf(['api', 'admin', 'session'], { n: ITEMS });
  const { data: found, error } = usePosted<readonly TitledScore[]>(path, JSON.stringify(records));
  const add = (Id: string, Title: string) =>
    basket.some((item) => item.Id === Id) || change([...basket, { Id, Title }]);
  return (
    <>
      <p class="muted">
        {basket.length === 0 ? 'Who has bought nothing yet. Put something into the basket:' : 'Who bought'}
      </p>
      <p class="suggestions">
        {basket.map((item) => (
          <button
            key={item.Id}
            type="button"
            class="chip chosen"
            aria-label={`Take ${nameOf(item)} out`}
            onClick={() => change(basket.filter((each) => each !== item))}
          >
            {nameOf(item)} ×
          </button>
        ))}
      </p>
      <ItemPicker label="Title or id of an item" choose={add} />
      <State error={error} loading={found === undefined && error === undefined} />
      {basket.length === 0 && <OfUser userId={STRANGER} />}
      {found !== undefined && basket.length > 0 && (
        <Goods
          items={found.map((item) => ({ ...item, reason: 'goes with the basket' }))}
          none="Nothing is known to go with these."
        />
      )}
    </>
  );
}

/** Items as goods on a shelf: picture, title, price, and a reason. */
function Goods({ items, none }: { items: readonly (ItemCard & { reason: string })[]; none: string }) {
  if (items.length === 0) return <p class="muted">{none}</p>;
  return (
    <ol class="goods">
      {items.map((item) => (
        <li key={item.Id}>
          <a href={`#/items/${encodeURIComponent(item.Id)}`}>
            {item.Image === undefined ? (
              <span class="no-picture" aria-hidden="true">
                {/\p{L}/u.exec(nameOf(item))?.[0] ?? nameOf(item).slice(0, 1)}
              </span>
            ) : (
              <img src={item.Image} alt="" loading="lazy" />
            )}
            <strong>{nameOf(item)}</strong>
          </a>
          {item.Price !== undefined && <span class="price">{item.Price}</span>}
          <small class="muted">{item.reason}</small>
        </li>
      ))}
    </ol>
  );
}

function nameOf({ Id, Title }: ItemCard): string {
  return short(Title === '' ? Id : Title, 60);
}
