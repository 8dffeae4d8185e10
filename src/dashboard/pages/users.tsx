import { Card, PageHead, State, Table } from '../parts/common.tsx';
import { usePrefixSearch } from '../parts/prefix-search.tsx';
import { href } from '../router.ts';

interface User {
  readonly UserId: string;
  readonly Labels: readonly unknown[];
  readonly Comment: string;
}

export function UsersPage() {
  const found = usePrefixSearch<User>('users', (page) => page.Users as readonly User[]);
  return (
    <>
      <PageHead title="Users">Look one up by the beginning of the id, and see what is recommended.</PageHead>
      <Card wide>
        {found.search}
        <State error={found.error} loading={found.loading} />
        <Table label="Users" head={['User', 'Labels', 'Comment']}>
          {found.rows.map(({ UserId, Labels, Comment }) => (
            <tr key={UserId}>
              <th scope="row">
                <a href={href('try', UserId)}>{UserId}</a>
              </th>
              <td>
                {Labels.map((label) => (typeof label === 'string' ? label : JSON.stringify(label))).join(
                  ', ',
                )}
              </td>
              <td>{Comment}</td>
            </tr>
          ))}
        </Table>
        {found.pages}
      </Card>
    </>
  );
}
