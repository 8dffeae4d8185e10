import type { Storage } from '../../domain/admin-schemas.ts';
import { bytes, count, figure } from '../format.ts';
import { Bar, Card, Fact, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { UpkeepCard } from '../parts/maintenance.tsx';
import { useResource } from '../use-resource.ts';

const REFRESH_MS = 10_000;

export function StoragePage() {
  const { data, error, loading } = useResource<Storage>('/api/admin/storage', REFRESH_MS);
  return (
    <>
      <PageHead title="Storage">Disk by table and memory by part.</PageHead>
      <State error={error} loading={loading} />
      {data !== undefined && <Sizes data={data} />}
    </>
  );
}

function Sizes({ data }: { data: Storage }) {
  const largest = Math.max(1, ...data.Tables.map(({ Bytes }) => Bytes));
  const largestPart = Math.max(1, ...data.Memory.map(({ Bytes }) => Bytes));
  return (
    <>
      <dl class="facts large">
        <Fact name="Data" value={bytes(data.DataBytes)} note={data.DataFolder} />
        <Fact name="Cache" value={bytes(data.CacheBytes)} note={data.CacheFolder} />
        <Fact name="Disk free" value={bytes(data.DiskFreeBytes)} note={`of ${bytes(data.DiskBytes)}`} />
        {data.BytesPerFeedback !== undefined && (
          <Fact name="Bytes a feedback" value={figure(data.BytesPerFeedback)} note="The whole data store" />
        )}
      </dl>
      <UpkeepCard data={data} />
      <Card wide title="Disk">
        <Table label="Tables" head={['Store', 'Table', ...numbers('Records', 'Size'), 'Share']}>
          {data.Tables.map(({ Store, Name, Entries, Bytes }) => (
            <tr key={`${Store} ${Name}`}>
              <td>{Store}</td>
              <th scope="row">{Name}</th>
              <td class="number">{count(Entries)}</td>
              <td class="number nowrap">{bytes(Bytes)}</td>
              <td class="bar-cell">
                <Bar share={Bytes / largest} label={`Size of ${Name}`} />
              </td>
            </tr>
          ))}
        </Table>
      </Card>
      <Card wide title="Memory">
        <Table stacks label="Parts of the memory" head={['Part', ...numbers('Size'), 'Share', 'What it is']}>
          {data.Memory.map(({ Name, Bytes, Note }) => (
            <tr key={Name}>
              <th scope="row">{Name}</th>
              <td class="number nowrap">{bytes(Bytes)}</td>
              <td class="bar-cell">
                <Bar share={Bytes / largestPart} label={`Size of ${Name}`} />
              </td>
              <td class="muted">{Note}</td>
            </tr>
          ))}
        </Table>
      </Card>
    </>
  );
}
