import { setHidden } from '../actions.ts';
import { time } from '../format.ts';
import { Card, ItemName, Names, PageHead, State, Table } from '../parts/common.tsx';
import { NoneFound, useItemSearch } from '../parts/record-search.tsx';

/** An item as the API tells it. */
export interface Item {
  readonly ItemId: string;
  readonly IsHidden: boolean;
  readonly Categories: readonly string[];
  readonly Timestamp: string;
  readonly Labels: readonly unknown[];
  readonly Comment: string;
}

export function ItemsPage() {
  const found = useItemSearch<Item>('Title, id, category or label');
  return (
    <>
      <PageHead title="Items">Look one up by its title, id, category or label.</PageHead>
      <Card wide>
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          {found.input}
        </form>
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
                <td class="nowrap">{time(item.Timestamp)}</td>
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
