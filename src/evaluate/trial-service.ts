import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { rowIndices } from '../dataset/interactions.ts';
import { type Config, type ConfigOverrides, defaultConfig } from '../domain/config/config.ts';
import type { Feedback, Item, User } from '../domain/entities.ts';
import { createLogger } from '../domain/log.ts';
import { type TemporaryFolder, temporaryFolder } from '../domain/process/temporary-folder.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { type Service, startService } from '../service.ts';
import type { DataStore, WriteCommand } from '../store/data-store.ts';
import type { Trial } from './hold-out-protocol.ts';

/** Records sent in one write. */
const BATCH = 10_000;
/** Requests under way at once. */
const CONNECTIONS = 8;
/** The clock moves on by this between two configurations, so that the lists of one are not those of the next. */
const STEP_MS = 1000;

/** `[recommend]` keys that a configuration has another value for. */
export type Recommend = NonNullable<ConfigOverrides['recommend']>;

/** The lists that users of the test were served, as item rows, and what it took to learn them. */
export interface Served {
  readonly lists: ReadonlyMap<number, Uint32Array>;
  readonly fitSeconds: number;
}

/**
 * A service of its own in a temporary folder, which knows what a trial lets it know, with its clock standing at the
 * moment of the question.
 */
export class TrialService {
  private readonly trial: Trial;
  private readonly config: Config;
  private readonly folder: TemporaryFolder;
  /** Others of this machine could read all that the trial knows otherwise. */
  private readonly key = randomUUID();
  private starts = 0;

  private constructor(trial: Trial, config: Config, folder: TemporaryFolder) {
    this.trial = trial;
    this.config = config;
    this.folder = folder;
  }

  /** @param config how lists are to be made; stores and address are the trial's own */
  static async create(trial: Trial, config: Config): Promise<TrialService> {
    return new TrialService(trial, config, temporaryFolder('furze-evaluate-'));
  }

  /** Fits with these changes to the configuration and asks for the lists of all users of the test. */
  async serve(recommend: Recommend, n: number, onStage: (stage: string) => void): Promise<Served> {
    const service = await this.start(recommend);
    try {
      if (this.starts === 1) await fill(service.data, this.trial);
      const started = performance.now();
      await service.fit((stage) => onStage(stage));
      const fitSeconds = (performance.now() - started) / 1000;
      onStage('asking for lists');
      return { lists: await ask(service, this.key, this.trial, n), fitSeconds };
    } finally {
      await service.stop();
    }
  }

  async close(): Promise<void> {
    this.folder.remove();
  }

  private start(recommend: Recommend): Promise<Service> {
    this.starts++;
    const nowMs = this.trial.nowMs + this.starts * STEP_MS;
    const { server, database, recommend: given } = this.config;
    const data = join(this.folder.path, 'data');
    const config = defaultConfig({
      ...this.config,
      node: { role: 'all' },
      database: {
        ...database,
        data_store: `lmdb://${data}`,
        cache_store: `lmdb://${join(data, 'cache')}`,
        sync: 'commit',
      },
      server: {
        ...server,
        host: '127.0.0.1',
        port: 0,
        api_key: this.key,
        api_keys: [],
        read_only_api_key: '',
        ssl_cert: '',
        ssl_key: '',
        auto_insert_user: true,
        auto_insert_item: true,
      },
      recommend: {
        ...given,
        ...recommend,
        offline: { ...given.offline, ...recommend.offline },
        online: { ...given.online, ...recommend.online },
      },
    });
    // A fit that began by itself would know a part of what is written, and the one that is asked for would join it.
    return startService({ config, log: createLogger('error'), clock: () => nowMs, onDemand: true });
  }
}

async function fill(data: DataStore, { past, known }: Trial): Promise<void> {
  const { userIds, itemIds } = past;
  const firstMs = new Map<number, number>();
  for (const at of known) {
    const row = past.itemRows[at]!;
    firstMs.set(row, Math.min(firstMs.get(row) ?? Number.POSITIVE_INFINITY, past.timesMs[at]!));
  }
  const users = userIds.map(
    (UserId, row): User => ({ Labels: [], Comment: '', Subscribe: [], ...past.users[row], UserId }),
  );
  // An item without a time of its own is as old as its first record; one of which nothing is known yet is not there yet.
  const items = [...firstMs].map(([row, ms]): Item => {
    const ItemId = itemIds[row]!;
    const bare = {
      IsHidden: false,
      Categories: [],
      Timestamp: '',
      Labels: [],
      Comment: '',
      ...past.items[row],
      ItemId,
    };
    return { ...bare, Timestamp: bare.Timestamp || formatTimestamp(ms) };
  });
  const feedback = known.map(
    (at): Feedback => ({
      FeedbackType: past.types[at]!,
      UserId: userIds[past.userRows[at]!]!,
      ItemId: itemIds[past.itemRows[at]!]!,
      Timestamp: formatTimestamp(past.timesMs[at]!),
      Comment: '',
      ...(past.values[at] !== 0 && { Value: past.values[at] }),
    }),
  );
  await writeAll(data, users, (records) => ({ kind: 'putUsers', batch: { records } }));
  await writeAll(data, items, (records) => ({ kind: 'putItems', batch: { records } }));
  await writeAll(data, feedback, (records) => ({ kind: 'putFeedback', overwrite: true, batch: { records } }));
}

async function writeAll<T>(
  data: DataStore,
  records: readonly T[],
  command: (records: readonly T[]) => WriteCommand,
): Promise<void> {
  for (let at = 0; at < records.length; at += BATCH) await data.write(command(records.slice(at, at + BATCH)));
}

/** The answer for every user of the test, as item rows. */
async function ask(
  service: Service,
  key: string,
  { past, test }: Trial,
  n: number,
): Promise<Map<number, Uint32Array>> {
  const rowOf = new Map(past.itemIds.map((id, row) => [id, row]));
  const users = past.userIds.flatMap((_, row) => (rowIndices(test.byUser, row).length > 0 ? [row] : []));
  const base = `http://${service.address.host}:${service.address.port}/api/recommend`;
  const lists = new Map<number, Uint32Array>();
  let next = 0;
  const work = async () => {
    while (next < users.length) {
      const user = users[next++]!;
      const answer = await fetch(`${base}/${encodeURIComponent(past.userIds[user]!)}?n=${n}`, {
        headers: { 'X-API-Key': key },
      });
      if (!answer.ok) throw new Error(`the service answered ${answer.status}: ${await answer.text()}`);
      const ids = (await answer.json()) as string[];
      lists.set(
        user,
        Uint32Array.from(ids, (id) => rowOf.get(id)!),
      );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return lists;
}
