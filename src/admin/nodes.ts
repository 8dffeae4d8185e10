import type { Node, Trouble } from '../domain/admin-schemas.ts';
import { type Cluster, differencesOf, GONE_MS, leaderOf, type NodeState } from '../store/cluster.ts';

/** The nodes that share the data, as operators see them. */
export function describeNodes({ nodes }: Pick<Cluster, 'nodes'>): Node[] {
  return nodes.map((node: NodeState) => ({
    Name: node.name,
    Role: node.role,
    Version: node.version,
    Address: node.address,
    Generation: node.generation,
    CommitsBehind: node.lag,
    Leads: node.isLeader && !isGone(node),
    Self: node.isSelf,
    State: isGone(node) ? 'gone' : 'there',
    SilentSeconds: node.silentMs / 1000,
  }));
}

function isGone({ silentMs }: NodeState): boolean {
  return silentMs >= GONE_MS;
}

/** Troubles of the nodes: none learns, or some do not know what is served. */
export function nodeTroubles(cluster: Pick<Cluster, 'nodes'>): Trouble[] {
  const { nodes } = cluster;
  // While the database is away nobody hears of anybody, which is told by itself.
  if (nodes.every(isGone)) return [];
  const found: Trouble[] = [];
  if (leaderOf(cluster) === undefined)
    found.push({
      Code: 'no_leader',
      Severity: 'warning',
      Message: 'No node leads, so nothing new is learned; the last generation goes on serving.',
      Advice: 'Start a node with [node] role = "worker" or "all".',
    });
  const gone = nodes.filter(isGone).map(({ name }) => name);
  if (gone.length > 0)
    found.push({
      Code: 'node_gone',
      Severity: 'warning',
      Message: `Not heard of any more: ${gone.join(', ')}.`,
      Advice: 'Look at its log. A node that is gone for good is listed for ten minutes.',
    });
  const others = differencesOf(cluster).map(({ node, keys }) => `${node.name}: ${keys.join(', ')}`);
  if (others.length > 0)
    found.push({
      Code: 'settings_differ',
      Severity: 'warning',
      Message: `Nodes go by other settings than the leader, so their lists are others. ${others.join('; ')}.`,
      Advice: 'Give all nodes the same settings of these keys, and start those that differ again.',
    });
  return found;
}
