import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPostgres } from '../../test/servers/postgres.ts';
import type { TestRedis } from '../../test/servers/redis.ts';
import { type ServerProcess, startConfigured, TYPES_SECTION } from '../http/processes.ts';

export interface Engines {
  readonly postgres: TestPostgres;
  readonly redis: TestRedis;
}

/** Processor time of all of them so far, milliseconds. */
export function spentOf(servers: readonly ServerProcess[]): number {
  return servers.reduce((sum, server) => sum + server.allCpuMs(), 0);
}

/** Starts a node that learns nothing unasked, with the stores as they stand in a configuration. @param offline more lines of that section */
export async function startNode(
  folder: string,
  name: string,
  role: string,
  stores: string,
  hitCacheMb: number,
  offline = '',
): Promise<ServerProcess> {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const caches = stores.includes('cache_store')
    ? `replica = "lmdb://${join(own, 'replica')}"`
    : `cache_store = "lmdb://${join(own, 'cache')}"`;
  const profile = process.env.CPU_PROFILES;
  return startConfigured(
    own,
    `[database]
${stores}
${caches}
sync = "commit"
[server]
port = 0
hit_cache_mb = ${hitCacheMb}
[node]
role = "${role}"
name = "${name}"
[worker]
threads = 1
${TYPES_SECTION}[recommend.collaborative]
model_fit_period = "24h"
[recommend.offline]
check_recommend_period = "24h"
enable_latest_recommend = true
enable_popular_recommend = true
${offline}[recommend.online]
remake_share = 1
`,
    profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  );
}
