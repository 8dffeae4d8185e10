import type { Node } from '../../domain/admin-schemas.ts';
import { count, duration } from '../format.ts';
import { Card, numbers, Table } from './common.tsx';

/** The nodes that share the data; nothing where there is one process alone. */
export function NodesCard({ nodes }: { nodes: readonly Node[] | undefined }) {
  if (nodes === undefined) return null;
  return (
    <Card wide title="Nodes">
      <Table
        label="Nodes"
        head={['Name', 'Role', 'Address', 'Version', ...numbers('Generation', 'Commits behind'), 'State']}
      >
        {nodes.map((node) => (
          <tr key={`${node.Name} ${node.Address}`}>
            <th scope="row">{node.Name}</th>
            <td>{[node.Role, node.Leads && 'leads', node.Self && 'this one'].filter(Boolean).join(', ')}</td>
            <td>{node.Address}</td>
            <td>{node.Version}</td>
            <td class="number">{count(node.Generation)}</td>
            <td class="number">{count(node.CommitsBehind)}</td>
            <td>{node.State === 'there' ? 'there' : `gone for ${duration(node.SilentSeconds)}`}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
