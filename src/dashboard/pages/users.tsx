import type { ActiveUsersView } from '../../domain/activity-schemas.ts';
import type { User } from '../../domain/entities.ts';
import { pathOf } from '../api.ts';
import { count, short, time } from '../format.ts';
import { Card, Names, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { NoneFound, useUserSearch } from '../parts/record-search.tsx';
import { href } from '../router.ts';
import { useResource } from '../use-resource.ts';

const ACTIVE_SHOWN = 25;
const AGAIN_MS = 10_000;

export function UsersPage() {
  const found = useUserSearch<User>();
  return (
    <>
      <PageHead title="Users">
        Who was active last; or look one up by the beginning of the id, and see what is recommended.
      </PageHead>
      <Card wide>
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          {found.input}
        </form>
      </Card>
      {found.text === '' && <ActiveUsers />}
      <Card wide title="By id">
        <State error={found.error} loading={found.loading} />
        {found.none === undefined ? (
          <Table stacks label="Users" head={['User', 'Labels', 'Comment']}>
            {found.rows.map((user) => (
              <tr key={user.UserId}>
                <UserCells user={user} />
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

/** Users of the latest feedback. */
function ActiveUsers() {
  const path = pathOf(['api', 'admin', 'activity', 'users'], { n: ACTIVE_SHOWN });
  const { data, error, loading } = useResource<ActiveUsersView>(path, AGAIN_MS);
  return (
    <Card wide title="Lately active">
      <State error={error} loading={loading} />
      {data?.Users.length === 0 && <p class="muted">No feedback has come since the start.</p>}
      {data !== undefined && data.Users.length > 0 && (
        <Table
          stacks
          label="Lately active users"
          head={['User', 'Labels', 'Comment', 'Last feedback', ...numbers('Feedback')]}
        >
          {data.Users.map((user) => (
            <tr key={user.UserId}>
              <UserCells user={user} />
              <td class="nowrap">{time(user.LastSeen)}</td>
              <td class="number" data-unit="feedback">
                {count(user.FeedbackCount)}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function UserCells({
  user: { UserId, Labels, Comment },
}: {
  user: Pick<User, 'UserId' | 'Labels' | 'Comment'>;
}) {
  return (
    <>
      <th scope="row">
        <a class="item" href={href('try', UserId)}>
          {short(UserId)}
        </a>
      </th>
      <td>
        <Names values={Labels} />
      </td>
      <td>{short(Comment)}</td>
    </>
  );
}
