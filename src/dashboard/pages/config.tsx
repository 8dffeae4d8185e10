import { useState } from 'preact/hooks';
import type { ConfigReport } from '../../domain/admin-schemas.ts';
import { Card, PageHead, State, Table } from '../parts/common.tsx';
import { useResource } from '../use-resource.ts';

export function ConfigPage() {
  const { data, error, loading } = useResource<ConfigReport>('/api/admin/config');
  const [text, setText] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  const shown = (data?.Keys ?? []).filter(
    ({ Key, Source, Description }) =>
      (!onlyChanged || Source !== 'default') &&
      `${Key} ${Description}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <>
      <PageHead title="Configuration">
        {data?.File ? `In effect since the start; the file is ${data.File}.` : 'In effect since the start.'}
      </PageHead>
      <State error={error} loading={loading} />
      {data !== undefined && (
        <Card wide>
          <form class="filter" onSubmit={(event) => event.preventDefault()}>
            <label>
              Find a key
              <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={onlyChanged}
                onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
              />
              Only those that are not at their default
            </label>
          </form>
          <Table stacks label="Configuration" head={['Key', 'Value', 'Source', 'Meaning']}>
            {shown.map(({ Key, Value, Default, Source, Variable, Description }) => (
              <tr key={Key}>
                <th scope="row">
                  {Key}
                  <small class="block muted">{Variable}</small>
                </th>
                <td>
                  <code>{Value}</code>
                  {Source !== 'default' && <small class="block muted">default {Default}</small>}
                </td>
                <td>
                  <span class={`badge ${Source === 'default' ? '' : 'done'}`}>{Source}</span>
                </td>
                <td class="muted">{Description}</td>
              </tr>
            ))}
          </Table>
        </Card>
      )}
    </>
  );
}
