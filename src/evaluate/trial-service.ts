import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { rowIndices } from '../dataset/interactions.ts';
import { type TemporaryFolder, temporaryFolder } from '../platform/files/temporary-folder.ts';
import type { Service } from '../service/service.ts';
import type { Trial } from './hold-out-protocol.ts';
import { fillStore, firstTimes, type Recommend, startOwnService } from './own-service.ts';

/** Requests under way at once. */
const CONNECTIONS = 8;
/** The clock moves on by this between two configurations, so that the lists of one are not those of the next. */
const STEP_MS = 1000;

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
      if (this.starts === 1) {
        const { past, known } = this.trial;
        const items = firstTimes(past, known);
        await fillStore(service.data, past, { users: past.userIds.keys(), items, feedback: known });
      }
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
    const { config, key } = this;
    return startOwnService({ config, recommend, folder: this.folder.path, key, clock: () => nowMs });
  }
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
