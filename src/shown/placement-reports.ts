import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { PlacementReport } from '../domain/placement-schemas.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { inTurns, pausing } from '../platform/concurrency/event-loop-turns.ts';
import { readAhead } from '../recommend/history/histories.ts';
import { type DataStore, FeedbackColumns } from '../store/data-store.ts';
import type { ShownLog } from '../store/shown-log.ts';
import { attribute, type GivenFeedback, type Outcome, type SeenList } from './attribution.ts';
import { ExperimentSums } from './experiment-sums.ts';
import { PairedSums } from './paired-sums.ts';
import { PlacementSums } from './placement-sums.ts';

/** Age from which on a report is made anew, milliseconds. */
const FRESH_MS = 60_000;

export interface ReportParts {
  readonly log: ShownLog;
  readonly data: Pick<DataStore, 'local' | 'getFeedback' | 'barrier'>;
  readonly clock: Clock;
  /** Rows of the items that are popular now. */
  readonly popularRows: () => Promise<ReadonlySet<number>>;
  /** The experiments of now. */
  readonly experiments: () => Config['experiment'];
  /** Longest time between seeing an item and feedback on it that names no list, milliseconds. */
  readonly windowMs: number;
  /** Types of feedback that say that an item was seen, and nothing more. */
  readonly readTypes: ReadonlySet<string>;
  /** The type of each kind of feedback that a value makes positive. */
  readonly typeOfKind: ReadonlyMap<string, string>;
}

/** Works out what came of the lists of placements, out of what was shown and the feedback there is. */
export class PlacementReports {
  private readonly parts: ReportParts;
  private readonly columns = new FeedbackColumns();
  private last:
    | { readonly report: PlacementReport; readonly madeMs: number; readonly of: Config['experiment'] }
    | undefined;
  private making: Promise<PlacementReport> | undefined;

  constructor(parts: ReportParts) {
    this.parts = parts;
  }

  /** The last report, at most a minute old; one that has to be made takes turns with requests. @throws FurzeError STORE_UNAVAILABLE */
  current(): Promise<PlacementReport> {
    const { last } = this;
    const isOfNow = last?.of === this.parts.experiments();
    if (last !== undefined && isOfNow && performance.now() - last.madeMs < FRESH_MS)
      return Promise.resolve(last.report);
    this.making ??= this.make().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async make(): Promise<PlacementReport> {
    const { log, clock, windowMs } = this.parts;
    const experiments = this.parts.experiments();
    const popular = await this.parts.popularRows();
    const sums = new PlacementSums((row) => popular.has(row));
    const nowMs = clock();
    const running = Object.entries(experiments).map(([name, settings]) =>
      settings.method === 'split'
        ? new ExperimentSums(name, settings, nowMs)
        : new PairedSums(name, settings, nowMs),
    );
    const pause = pausing();
    for await (const users of log.walk()) {
      await this.parts.data.barrier?.pass(users.map(({ userId }) => userId));
      for (const user of users) {
        await readAhead(this.parts.data.local, this.parts.data.local.userRow(user.userId));
        const feedback = this.feedbackOf(user.userId);
        const lists = await inTurns(attribute(user.records, feedback, windowMs));
        const values = await this.valuesOf(user.userId, lists);
        await inTurns(sums.add(lists, values));
        for (const experiment of running) experiment.add(lists, feedback, values);
        await pause();
      }
    }
    const report = {
      ComputedAt: formatTimestamp(nowMs),
      WindowSeconds: windowMs / 1000,
      Placements: sums.outcomes,
      Experiments: running.map(({ outcome }) => outcome),
    };
    this.last = { report, madeMs: performance.now(), of: experiments };
    return report;
  }

  private feedbackOf(userId: string): GivenFeedback[] {
    const { data, readTypes, typeOfKind } = this.parts;
    const userRow = data.local.userRow(userId);
    if (userRow < 0) return [];
    const { columns } = this;
    columns.clear();
    data.local.readUserFeedback(userRow, columns);
    const names = data.local.feedbackTypes();
    const feedback: GivenFeedback[] = [];
    for (let at = 0; at < columns.length; at++) {
      const kind = names[columns.types[at]!] ?? '';
      const type = typeOfKind.get(kind) ?? kind;
      const timeMs = columns.timesMs[at]!;
      if (!readTypes.has(kind)) feedback.push({ itemRow: columns.itemRows[at]!, type, kind, timeMs });
    }
    return feedback;
  }

  private async valuesOf(userId: string, lists: readonly SeenList[]): Promise<Map<Outcome, number>> {
    const { data } = this.parts;
    const values = new Map<Outcome, number>();
    for (const outcome of lists.flatMap(({ outcomes }) => outcomes)) {
      const itemId = data.local.itemIdAt(outcome.itemRow);
      const feedback =
        itemId === undefined ? undefined : await data.getFeedback(outcome.type, userId, itemId);
      if (feedback?.Value !== undefined) values.set(outcome, feedback.Value);
    }
    return values;
  }
}
