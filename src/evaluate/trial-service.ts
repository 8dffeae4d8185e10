import type { Config } from '../config/config.ts';
import { askedUsers, type Trial } from './hold-out-protocol.ts';
import { fillStore, firstTimes, OwnService, type Recommend } from './own-service.ts';

/** Requests under way at once. */
const CONNECTIONS = 8;
/** The clock moves on by this between two configurations, so that the lists of one are not those of the next. */
const STEP_MS = 1000;

/** The lists that users of the test were served, as item rows, and what it took to learn them. */
export interface Served {
  readonly lists: ReadonlyMap<number, Uint32Array>;
  readonly fitSeconds: number;
}

/** A service of its own which knows what a trial lets it know, with its clock standing at the moment of the question. */
export class TrialService {
  private readonly trial: Trial;
  private readonly config: Config;
  private readonly service = new OwnService('furze-evaluate-');
  private starts = 0;

  /** @param config how lists are to be made; stores and address are the trial's own */
  constructor(trial: Trial, config: Config) {
    this.trial = trial;
    this.config = config;
  }

  /** Fits with these changes to the configuration and asks for the lists of all users of the test. */
  async serve(recommend: Recommend, n: number, onStage: (stage: string) => void): Promise<Served> {
    const { service, config } = this;
    const { past, known, nowMs } = this.trial;
    const standingMs = nowMs + ++this.starts * STEP_MS;
    await service.start(config, recommend, { clock: () => standingMs });
    try {
      if (this.starts === 1) {
        const items = firstTimes(past, known);
        await fillStore(service.data, past, { users: past.userIds.keys(), items, feedback: known });
      }
      const started = performance.now();
      await service.fit(onStage);
      const fitSeconds = (performance.now() - started) / 1000;
      onStage('asking for lists');
      return { lists: await this.ask(n), fitSeconds };
    } finally {
      await service.stop();
    }
  }

  close(): Promise<void> {
    return this.service.close();
  }

  /** The answer for every user of the test, as item rows. */
  private async ask(n: number): Promise<Map<number, Uint32Array>> {
    const { userIds, itemIds } = this.trial.past;
    const rowOf = new Map(itemIds.map((id, row) => [id, row]));
    const users = askedUsers(this.trial);
    const lists = new Map<number, Uint32Array>();
    let next = 0;
    const work = async () => {
      while (next < users.length) {
        const user = users[next++]!;
        const path = `/api/recommend/${encodeURIComponent(userIds[user]!)}?n=${n}`;
        const ids = (await this.service.send(path)) as string[];
        const rows = Uint32Array.from(ids, (id) => rowOf.get(id)!);
        lists.set(user, rows);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    return lists;
  }
}
