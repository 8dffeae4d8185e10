import type { Registry } from 'prom-client';
import { type Cluster, GONE_MS, leaderOf } from '../../store/cluster.ts';
import { gauge } from './gauge.ts';

const ROLES = ['all', 'server', 'worker'] as const;

/** This node among those that share the data. */
export function registerNodes(registry: Registry, cluster: Cluster): void {
  gauge(registry, 'furze_node_leads', '1 when this node is the one that learns', () =>
    Number(cluster.epoch !== undefined),
  );
  gauge(
    registry,
    'furze_node_commits_behind',
    "Commits that this node's copy of the data lacks, as of some seconds ago",
    () => cluster.nodes.find(({ isSelf }) => isSelf)?.lag,
  );
  gauge(
    registry,
    'furze_published_generation',
    'Number of the generation that all nodes are to serve',
    () => cluster.published,
  );
  gauge(registry, 'furze_cluster_has_leader', '1 when a node leads, by what this one knows', () =>
    Number(leaderOf(cluster) !== undefined),
  );
  const byRole = () => {
    const there = cluster.nodes.filter(({ silentMs }) => silentMs < GONE_MS);
    return ROLES.map((role) => [{ role }, there.filter((node) => node.role === role).length] as const);
  };
  gauge(registry, 'furze_cluster_nodes', 'Nodes that were heard of lately, by role', byRole, ['role']);
}
