import { Gauge, type Registry } from 'prom-client';
import { type Cluster, GONE_MS, leaderOf } from '../../store/cluster.ts';

const ROLES = ['all', 'server', 'worker'] as const;

/** This node among those that share the data. */
export function registerNodes(registry: Registry, cluster: Cluster): void {
  const gauge = (name: string, help: string, value: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const known = value();
        // A gauge that was never set tells 0, which is a value like another.
        this.remove();
        if (known !== undefined) this.set(known);
      },
    });
  gauge('furze_node_leads', '1 when this node is the one that learns', () =>
    Number(cluster.epoch !== undefined),
  );
  gauge(
    'furze_node_commits_behind',
    "Commits that this node's copy of the data lacks, as of some seconds ago",
    () => cluster.nodes.find(({ isSelf }) => isSelf)?.lag,
  );
  gauge(
    'furze_published_generation',
    'Number of the generation that all nodes are to serve',
    () => cluster.published,
  );
  gauge('furze_cluster_has_leader', '1 when a node leads, by what this one knows', () =>
    Number(leaderOf(cluster) !== undefined),
  );
  new Gauge({
    name: 'furze_cluster_nodes',
    help: 'Nodes that were heard of lately, by role',
    labelNames: ['role'],
    registers: [registry],
    collect() {
      const there = cluster.nodes.filter(({ silentMs }) => silentMs < GONE_MS);
      for (const role of ROLES) this.set({ role }, there.filter((node) => node.role === role).length);
    },
  });
}
