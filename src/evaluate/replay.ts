import type { Config } from '../config/config.ts';
import type { ReplayRow, ReplayTable } from '../domain/evaluation-schemas.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import type { OnEvaluation } from './evaluate-service.ts';
import { LiveBaselines } from './live-baselines.ts';
import type { Recommend } from './own-service.ts';
import { type ReplayPlan, sample, sessionBefore } from './replay-plan.ts';
import { type Answer, likesGroup, SERVED, SESSIONS, SINCE_FIT, tabulate } from './replay-table.ts';
import { ReplayedService } from './replayed-service.ts';

const N = 10;
/** People whose lists are compared with each other at the end, and likes that they have at the least. */
const PEOPLE_MAX = 1000;
const PEOPLE_LIKES_MIN = 5;

/** Goes through the last part of the data: each sampled like is first a question, then is told like all other records. */
export class Replay {
  private readonly plan: ReplayPlan;
  private readonly service: ReplayedService;
  private readonly baselines: LiveBaselines | undefined;
  private readonly onStage: OnEvaluation;
  private readonly answers: (Answer & { readonly places: Map<string, number> })[] = [];
  /** The lists of some people at the end, by way. */
  private readonly people = new Map<string, Uint32Array[]>();
  /** The index of the next record to tell, of the next fit, and of what the last fit did not know. */
  private next: number;
  private fits = 0;
  private asked = 0;
  private fittedBefore: number;

  private constructor(
    plan: ReplayPlan,
    service: ReplayedService,
    baselines: LiveBaselines | undefined,
    onStage: OnEvaluation,
  ) {
    this.plan = plan;
    this.service = service;
    this.baselines = baselines;
    this.onStage = onStage;
    this.next = plan.from;
    this.fittedBefore = plan.from;
  }

  /**
   * Replays with a configuration.
   * @param alone further configurations by name, with each of which all is gone through again
   */
  static async run(
    plan: ReplayPlan,
    config: Config,
    seed: number,
    onStage: OnEvaluation,
    alone: readonly (readonly [name: string, recommend: Recommend])[] = [],
  ): Promise<ReplayTable> {
    const { timeline, from, questions, fitsMs, positives, judgeable } = plan;
    const baselines = new LiveBaselines(timeline);
    const first = await Replay.through(plan, config, {}, baselines, seed, onStage);
    const roles = new Map<string, ReplayRow['role']>([[SERVED, 'served'], ...baselines.roles]);
    for (const [name, recommend] of alone) {
      const tell: OnEvaluation = (stage, done, total) => onStage(`${name}, ${stage}`, done, total);
      const other = await Replay.through(plan, config, recommend, undefined, seed, tell);
      other.answers.forEach(({ places }, at) => {
        first.answers[at]!.places.set(name, places.get(SERVED)!);
      });
      first.people.set(name, other.people.get(SERVED)!);
      roles.set(name, 'alone');
    }
    return tabulate(first.answers, first.people, {
      ...{ seed, roles, catalog: timeline.past.itemIds.length },
      ...{ questions: questions.length, positives, judgeable, records: timeline.length - from },
      fits: 1 + fitsMs.length,
      hours: (timeline.timesMs[timeline.length - 1]! - timeline.timesMs[from]!) / 3_600_000,
    });
  }

  private static async through(
    plan: ReplayPlan,
    config: Config,
    recommend: Recommend,
    baselines: LiveBaselines | undefined,
    seed: number,
    onStage: OnEvaluation,
  ): Promise<Replay> {
    onStage('replay: writing what was known before', 0, plan.questions.length);
    const service = await ReplayedService.start(plan, config, recommend);
    try {
      const replay = new Replay(plan, service, baselines, onStage);
      await replay.go(seed);
      return replay;
    } finally {
      await service.close();
    }
  }

  private async go(seed: number): Promise<void> {
    const { timeline, from, questions } = this.plan;
    await this.fit(timeline.timesMs[from]! - 1);
    for (const at of questions) {
      await this.advance(at);
      this.report('questions');
      await this.question(at);
      this.asked++;
    }
    await this.advance(timeline.length);
    await this.askPeople(seed);
  }

  /** Tells of all records before an index, and learns at the times that lie between them. */
  private async advance(end: number): Promise<void> {
    const { timeline, fitsMs } = this.plan;
    const endMs = timeline.timesMs[end] ?? Number.POSITIVE_INFINITY;
    while (this.fits < fitsMs.length && fitsMs[this.fits]! <= endMs) {
      const fitMs = fitsMs[this.fits++]!;
      let before = this.next;
      while (before < end && timeline.timesMs[before]! < fitMs) before++;
      await this.tell(before);
      await this.fit(fitMs);
    }
    await this.tell(end);
  }

  private async tell(end: number): Promise<void> {
    await this.service.tell(this.next, end);
    this.next = end;
  }

  private async fit(nowMs: number): Promise<void> {
    const total = 1 + this.plan.fitsMs.length;
    this.report(`fit ${this.fits + 1} of ${total}`);
    await this.service.fit(nowMs, () => {});
    this.baselines?.fit(this.next);
    this.fittedBefore = this.next;
  }

  private report(stage: string): void {
    this.onStage(`replay: ${stage}`, this.asked, this.plan.questions.length);
  }

  private async question(at: number): Promise<void> {
    const { timeline } = this.plan;
    const [user, item] = [timeline.userRows[at]!, timeline.itemRows[at]!];
    const timeMs = timeline.timesMs[at]!;
    const likes = timeline.likesOf(user, at);
    const groups = [likesGroup(likes.length)];
    if (timeline.firstOfItem[item]! >= this.fittedBefore) groups.push(SINCE_FIT);
    this.baselines?.learn(at);
    const served = await this.service.ask(user, timeMs, N);
    const others = this.baselines?.lists(likes, timeline.seenBy(user, at), timeMs, N);
    this.answers.push(answer({ user, timeMs, groups }, item, served, others));
    const session = sessionBefore(timeline, user, at);
    if (session.length === 0) return;
    const next = await this.service.askSession(session, N);
    const simple = this.baselines?.lists(session, timeline.itemsOf(session), timeMs, N);
    this.answers.push(answer({ user, timeMs, groups: [SESSIONS] }, item, next, simple));
  }

  private async askPeople(seed: number): Promise<void> {
    const { timeline } = this.plan;
    const { length } = timeline;
    const users = Array.from(timeline.past.userIds.keys()).filter(
      (user) => timeline.likesOf(user, length).length >= PEOPLE_LIKES_MIN,
    );
    const people = sample(users, PEOPLE_MAX, seed);
    this.baselines?.learn(length);
    const nowMs = timeline.timesMs[length - 1]!;
    for (const [done, user] of people.entries()) {
      this.onStage('alike: asking people at one moment', done, people.length);
      const served = await this.service.ask(user, nowMs, N);
      const likes = timeline.likesOf(user, length);
      const others = this.baselines?.lists(likes, timeline.seenBy(user, length), nowMs, N);
      for (const [name, list] of [[SERVED, served] as const, ...(others ?? [])]) {
        getOrPut(this.people, name, () => []).push(list);
      }
    }
  }
}

function answer(
  asked: Omit<Answer, 'places'>,
  item: number,
  served: Uint32Array,
  others: ReadonlyMap<string, Uint32Array> = new Map(),
): Answer & { readonly places: Map<string, number> } {
  const places = new Map([[SERVED, served.indexOf(item)]]);
  for (const [name, list] of others) places.set(name, list.indexOf(item));
  return { ...asked, places };
}
