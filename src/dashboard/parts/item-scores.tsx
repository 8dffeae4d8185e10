import { ItemName, numbers, Score, Table } from './common.tsx';

export interface ScoredItem {
  readonly Id: string;
  readonly Title: string;
  readonly Score: number;
}

/** Items with their scores, best first, or what is said when there are none. */
export function ItemScores(props: { label: string; items: readonly ScoredItem[]; none: string }) {
  const { label, items, none } = props;
  if (items.length === 0) return <p class="muted">{none}</p>;
  return (
    <Table label={label} head={['Item', ...numbers('Score')]}>
      {items.map(({ Id, Title, Score: score }) => (
        <tr key={Id}>
          <td>
            <ItemName id={Id} title={Title} />
          </td>
          <td class="number">
            <Score value={score} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
