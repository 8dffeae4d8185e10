import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Summary } from '../../src/domain/admin-schemas.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { FurzeProcess, inFolder, pause, type Settings } from '../furze-process.ts';

export type Role = 'server' | 'worker';

/** Where the nodes' data and lists are. */
export interface SharedStores {
  readonly data: string;
  readonly cache?: string | undefined;
}

/** Lists are of what is like the user's likes by its labels, so that one that is behind shows. */
const LISTS_THAT_TELL: Settings = {
  RECOMMEND_ITEM_NEIGHBORS_NEIGHBOR_TYPE: 'similar',
  RECOMMEND_OFFLINE_ENABLE_ITEM_BASED_RECOMMEND: 'true',
  RECOMMEND_OFFLINE_ENABLE_LATEST_RECOMMEND: 'false',
  RECOMMEND_OFFLINE_ENABLE_POPULAR_RECOMMEND: 'false',
  RECOMMEND_OFFLINE_ENABLE_USER_BASED_RECOMMEND: 'false',
  RECOMMEND_OFFLINE_ENABLE_COLLABORATIVE_RECOMMEND: 'false',
  RECOMMEND_ONLINE_FALLBACK_RECOMMEND: 'item_based,latest',
  RECOMMEND_ONLINE_REMAKE_SHARE: 1,
};

/** A node of the cluster: a process of its own, which keeps its port and its folder over restarts. */
export class Node {
  readonly name: string;
  readonly url: string;
  private readonly settings: Settings;
  private furze: FurzeProcess | undefined;
  /** What its earlier processes wrote. */
  private past = '';

  private constructor(name: string, port: number, settings: Settings) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.settings = settings;
  }

  /**
   * @param stores where data and lists are; without a place for lists each node has its own
   * @param replica the folder of its copy; one below `folder` when absent
   */
  static async create(
    name: string,
    role: Role,
    stores: SharedStores,
    folder: string,
    replica = '',
  ): Promise<Node> {
    const port = await freePort();
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const settings: Settings = {
      NODE_ROLE: role,
      NODE_NAME: name,
      SERVER_PORT: port,
      DATABASE_DATA_STORE: stores.data,
      ...(stores.cache !== undefined && { DATABASE_CACHE_STORE: stores.cache }),
      DATABASE_REPLICA: `lmdb://${replica || join(own, 'replica')}`,
      WORKER_THREADS: 1,
      RECOMMEND_OFFLINE_ENABLE_CLICK_THROUGH_PREDICTION: 'false',
      RECOMMEND_COLLABORATIVE_EPOCHS: 4,
      ...LISTS_THAT_TELL,
    };
    return new Node(name, port, { ...inFolder(own), ...settings });
  }

  /** Starts it, with other settings and a clock that is ahead by so many hours for this once. */
  async start(more: Settings = {}, hoursAhead = 0): Promise<void> {
    this.past += this.furze?.output ?? '';
    this.furze = FurzeProcess.start(['serve'], { ...this.settings, ...more }, clockAhead(hoursAhead));
    await this.furze.ready();
  }

  signal(signal: NodeJS.Signals): void {
    this.furze?.child.kill(signal);
  }

  /** Ends it and waits until it is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.furze === undefined || this.furze.hasEnded) return;
    await this.furze.stop(signal);
  }

  get isRunning(): boolean {
    return this.furze !== undefined && !this.furze.hasEnded;
  }

  get output(): string {
    return this.past + (this.furze?.output ?? '');
  }

  summary(): Promise<Summary> {
    return this.json('/api/admin/summary');
  }

  /** Name of the node that leads, by what this one knows. */
  async leader(): Promise<string | undefined> {
    return (await this.summary()).Nodes?.find(({ Leads }) => Leads)?.Name;
  }

  async generation(): Promise<number> {
    return (await this.summary()).Model?.Generation ?? 0;
  }

  /** A figure of its metrics, one without labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }

  async json<T>(path: string): Promise<T> {
    const answer = await fetch(this.url + path);
    if (!answer.ok)
      throw new Error(`${this.name} answered ${answer.status} to ${path}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }
}

/** What a command is put behind so that all its threads have another time of day. */
function clockAhead(hours: number): readonly string[] {
  if (hours === 0) return [];
  const code = `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}`;
  return ['env', `NODE_OPTIONS=--import "data:text/javascript,${encodeURIComponent(code)}"`];
}

const WAIT_MS_MAX = 600_000;

/** Waits until something is so. @returns seconds that it took @throws Error when it takes longer than ten minutes */
export async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < WAIT_MS_MAX) {
    if (await isSo().catch(() => false)) return (performance.now() - began) / 1000;
    await pause(50);
  }
  throw new Error(`${what} did not come to be in ten minutes`);
}
