import type { RecentEvent } from '../../domain/admin-schemas.ts';
import { pathOf } from '../api.ts';
import { short, time } from '../format.ts';
import { Card, Item, PageHead, State, Table } from '../parts/common.tsx';
import { href } from '../router.ts';
import { useResource } from '../use-resource.ts';

const SHOWN = 50;
const AGAIN_MS = 2000;

/** Feedback as it comes. */
export function LivePage() {
  const path = pathOf(['api', 'admin', 'activity', 'feedback'], { n: SHOWN });
  const { data, error, loading } = useResource<{ Feedback: readonly RecentEvent[] }>(path, AGAIN_MS);
  return (
    <>
      <PageHead title="Live">
        Feedback as it comes, the latest first. A click on a user shows the list that it has changed.
      </PageHead>
      <Card wide>
        <State error={error} loading={loading} />
        {data?.Feedback.length === 0 && <p class="muted">No feedback has come since the start.</p>}
        {data !== undefined && data.Feedback.length > 0 && (
          <Table stacks label="Feedback as it comes" head={['User', 'Feedback', 'Item', 'Of', 'Came']}>
            {data.Feedback.map((record) => (
              <tr key={record.Number}>
                <th scope="row">
                  <a class="item" href={href('try', record.UserId)}>
                    {short(record.UserId)}
                  </a>
                </th>
                <td>
                  <span class={`badge ${record.Positive ? 'done' : ''}`}>{record.FeedbackType}</span>
                </td>
                <td>
                  <Item card={record} />
                </td>
                <td class="nowrap">{time(record.Timestamp)}</td>
                <td class="nowrap">{time(record.CameAt)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
    </>
  );
}
