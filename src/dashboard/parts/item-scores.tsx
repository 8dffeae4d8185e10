import type { ItemCard } from '../../domain/admin-schemas.ts';
import { Item, numbers, Score, Table } from './common.tsx';

export type ScoredItem = ItemCard & { readonly Score: number };

/** Items with their scores, best first, or what is said when there are none. */
export function ItemScores(props: { label: string; items: readonly ScoredItem[]; none: string }) {
  const { label, items, none } = props;
  if (items.length === 0) return <p class="muted">{none}</p>;
  return (
    <Table label={label} head={['Item', ...numbers('Score')]}>
      {items.map((item) => (
        <tr key={item.Id}>
          <td>
            <Item card={item} />
          </td>
          <td class="number">
            <Score value={item.Score} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
