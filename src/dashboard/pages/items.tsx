import { useState } from 'preact/hooks';
import type { PopularItemsView } from '../../domain/activity-schemas.ts';
import type { Item } from '../../domain/entities.ts';
import { setHidden } from '../actions.ts';
import { pathOf } from '../api.ts';
import { count, time } from '../format.ts';
import {
  Card,
  Item as ItemLink,
  ItemName,
  Names,
  numbers,
  PageHead,
  State,
  Table,
} from '../parts/common.tsx';
import { NoneFound, Pages, useItemSearch } from '../parts/record-search.tsx';
import { useResource } from '../use-resource.ts';

const LIKED_SHOWN = 10;

export function ItemsPage() {
  const found = useItemSearch<Item>('Title, id, category or label');
  return (
    <>
      <PageHead title="Items">
        What is liked most; or look one up by its title, id, category or label.
      </PageHead>
      <Card wide>
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          {found.input}
        </form>
      </Card>
      {found.text === '' && <MostLiked />}
      <Card wide title={found.text === '' ? 'By id' : 'Found'}>
        <State error={found.error} loading={found.loading} />
        {found.none === undefined ? (
          <Table stacks label="Items" head={['Item', 'Categories', 'Time', 'State', '']}>
            {found.rows.map((item) => (
              <tr key={item.ItemId}>
                <th scope="row">
                  <ItemName id={item.ItemId} title={item.Comment} />
                </th>
                <td>
                  <Names values={item.Categories} />
                </td>
                <td class={item.Timestamp === '' ? 'none' : 'nowrap'}>{time(item.Timestamp)}</td>
                <td>
                  <span class={`badge ${item.IsHidden ? 'failed' : ''}`}>
                    {item.IsHidden ? 'hidden' : 'shown'}
                  </span>
                </td>
                <td>
                  <HideButton item={item} done={found.reload} />
                </td>
              </tr>
            ))}
          </Table>
        ) : (
          <NoneFound text={found.none} />
        )}
        {found.pages}
      </Card>
    </>
  );
}

/** Items by their likes in the window of popular ones, page by page. */
function MostLiked() {
  const [page, setPage] = useState(0);
  const path = pathOf(['api', 'admin', 'activity', 'items'], { n: LIKED_SHOWN, offset: page * LIKED_SHOWN });
  const { data, error, loading } = useResource<PopularItemsView>(path);
  const rows = data?.Items ?? [];
  return (
    <Card wide title="Most liked lately">
      <State error={error} loading={loading} />
      {data !== undefined && page === 0 && rows.length === 0 && (
        <p class="muted">Nothing was liked within popular_window of the configuration.</p>
      )}
      {rows.length > 0 && (
        <Table stacks label="Most liked items" head={['Item', ...numbers('Likes'), 'Categories', 'Time']}>
          {rows.map(({ Likes, Categories, Timestamp, ...card }) => (
            <tr key={card.Id}>
              <th scope="row">
                <ItemLink card={card} />
              </th>
              <td class="number" data-unit="likes">
                {count(Likes)}
              </td>
              <td>
                <Names values={Categories} />
              </td>
              <td class={Timestamp === '' ? 'none' : 'nowrap'}>{time(Timestamp)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pages page={page} isLast={rows.length < LIKED_SHOWN} go={setPage} label="Pages of the most liked" />
    </Card>
  );
}

export function HideButton({ item, done }: { item: Item; done: () => void }) {
  const { ItemId, Comment, IsHidden } = item;
  return (
    <button
      type="button"
      class="small outline"
      aria-label={`${IsHidden ? 'Show' : 'Hide'} ${Comment || ItemId}`}
      onClick={() => setHidden(ItemId, Comment, !IsHidden, done)}
    >
      {IsHidden ? 'Show' : 'Hide'}
    </button>
  );
}
