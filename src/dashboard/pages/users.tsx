import { short } from '../format.ts';
import { Card, Names, PageHead, State, Table } from '../parts/common.tsx';
import { NoneFound, useUserSearch } from '../parts/record-search.tsx';
import { href } from '../router.ts';

interface User {
  readonly UserId: string;
  readonly Labels: readonly unknown[];
  readonly Comment: string;
}

export function UsersPage() {
  const found = useUserSearch<User>();
  return (
    <>
      <PageHead title="Users">Look one up by the beginning of the id, and see what is recommended.</PageHead>
      <Card wide>
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          {found.input}
        </form>
        <State error={found.error} loading={found.loading} />
        {found.none === undefined ? (
          <Table stacks label="Users" head={['User', 'Labels', 'Comment']}>
            {found.rows.map(({ UserId, Labels, Comment }) => (
              <tr key={UserId}>
                <th scope="row">
                  <a class="item" href={href('try', UserId)}>
                    {short(UserId)}
                  </a>
                </th>
                <td>
                  <Names values={Labels} />
                </td>
                <td>{short(Comment)}</td>
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
