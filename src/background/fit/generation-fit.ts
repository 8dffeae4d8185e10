import { isDeepStrictEqual } from 'node:util';
import { heldOutInStore, type TrainingData } from '../../dataset/training-data.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import type { AlsSettings } from '../../model/als/settings.ts';
import type { AskedUser } from '../../model/neighbors/similar-users.ts';
import type { GivenModel } from '../../model/part/given-model.ts';
import {
  featuresOf,
  PART_NAMES,
  type PartName,
  type PartOptions,
  type PartPlaced,
  type PlacedParts,
  partOf,
  TRAINED_PARTS,
} from '../../model/registry.ts';
import { everLooksAt, UNTAUGHT, weightsOf } from '../../recommend/models/feature-names.ts';
import { choiceTable } from '../../recommend/ranking/choose-ranking.ts';
import { type CancelFlag, cancelledBy } from '../../threads/cancellation.ts';
import type { LearnedRanking, PlacedGeneration, TakenGiven } from '../../threads/messages.ts';
import type { GenerationManifest } from '../generation/generation-storage.ts';
import { JobQueue } from '../pool/job-queue.ts';
import { LEARNING_TO_RANK, LOADING_FEEDBACK, ON_ALL_FEEDBACK, type OnProgress } from '../tasks/fit-stages.ts';
import type { JudgedAls } from '../training/als-training.ts';
import { plannedMb, rankingBytes, STAGE_MEMORY } from '../training/lists-and-ranking-memory-estimate.ts';
import type { PartTrainer } from '../training/part-trainer.ts';
import { type RestoredGeneration, restoreGeneration, savedParts } from '../training/restore-generation.ts';
import type { Fitted, GenerationFitOptions, GenerationFitParts } from './fit-collaborators.ts';

export type { Fitted };

/**
 * Where so many times as much feedback is there once a fit has learned to rank, it begins anew, so many times at most: what
 * has come meanwhile is then more than the least share that is held out, which is no longer the latest of all.
 */
const GROWTH_MAX = 1.05;
const ANEW_MAX = 3;

/** What a log says where there is too little to learn to rank from. */
const UNTAUGHT_LISTS = `lists are ranked by ${UNTAUGHT.name}, as each like moves it`;

/** A learned ranking and the trainings behind it. */
interface RankingAndOutcomes extends LearnedRanking {
  readonly outcomes: { readonly [Name in PartName]?: unknown };
}

/**
 * Fits a whole generation: the parts that rank, without the latest feedback; from them and that feedback how to rank;
 * then all parts with everything. A part that fails twice is reported and left out, unless it is the collaborative
 * model: then there is no new generation. What was saved before stays whole until the new one is.
 */
export class GenerationFit {
  private readonly parts: GenerationFitParts;
  private readonly options: GenerationFitOptions;
  private abort = new AbortController();
  private isEnded = false;
  private readonly requests: JobQueue;
  /** The last fit's outcome, as it was. */
  last: PlacedGeneration | undefined;
  private lastManifest: GenerationManifest | undefined;
  /** True once somebody asks for users like a user. */
  private asksUsers: boolean;
  /** Of the fit that runs. */
  private given: TakenGiven | undefined;

  constructor(parts: GenerationFitParts, options: GenerationFitOptions) {
    this.requests = new JobQueue(parts.pool, 1);
    this.parts = parts;
    this.options = options;
    this.asksUsers = options.usesUsers;
  }

  /**
   * Places what the last fit saved, undefined when there is none that can be read. Users, who take all feedback to compare,
   * are not laid out yet: see `indexServing`.
   * @param reading where it is being read already
   */
  async restore(reading?: Promise<RestoredGeneration | undefined>): Promise<PlacedGeneration | undefined> {
    const { trainer } = this.parts;
    // A fit may have been cancelled because this node leads no more.
    this.renew();
    const restored = await (reading ?? restoreGeneration(trainer, this.options.log));
    if (restored === undefined) return undefined;
    const { manifest, parts } = restored;
    this.lastManifest = manifest;
    this.last = { number: manifest.generation, ranking: manifest.ranking, choice: manifest.choice, parts };
    trainer.memory.clear();
    return this.last;
  }

  /**
   * Fits and saves generation `number`.
   * @returns undefined when there is no positive feedback yet, or it was cancelled meanwhile
   * @throws Error when the collaborative model cannot be trained
   */
  async run(number: number, onProgress: OnProgress): Promise<Fitted | undefined> {
    this.renew();
    try {
      return await this.fit(number, onProgress);
    } catch (error) {
      if (this.isCancelled) return undefined;
      throw error;
    } finally {
      this.parts.trainer.memory.clear();
    }
  }

  /** The `k` users most like one; undefined where they are not laid out for it yet, which is done from then on. */
  async similarUsers(asked: AskedUser, k: number, signal?: AbortSignal): Promise<Ranked | undefined> {
    const users = this.last?.parts.userNeighbors;
    if (users === undefined) return undefined;
    const slot = this.parts.pool.servingSlot;
    // One slot of scratch is there for requests, so they take turns.
    const job = { kind: 'neighbors', among: 'users', users, asked, k, slot } as const;
    return this.requests.ask<'neighbors'>((cancelled) => ({ ...job, cancelled }), signal);
  }

  /** Has users laid out by `indexServing` and the fits from now on. @returns whether what serves lacks them since */
  askUsers(): boolean {
    const isNew = !this.asksUsers && this.last !== undefined;
    this.asksUsers ||= isNew;
    return isNew;
  }

  /** Ends what is being trained within one chunk of its work. */
  cancel(): void {
    this.abort.abort();
  }

  /** The same, and nothing is trained any more. */
  stop(): void {
    this.isEnded = true;
    this.cancel();
    this.parts.trainer.options.shelf.giveUp();
  }

  private renew(): void {
    if (!this.isEnded) this.abort = new AbortController();
  }

  /** @param again times that it may begin anew, because an import went on meanwhile */
  private async fit(number: number, onProgress: OnProgress, again = ANEW_MAX): Promise<Fitted | undefined> {
    const { loader, als, trainer } = this.parts;
    onProgress(LOADING_FEEDBACK, 0, 1);
    const term = trainer.options.shelf.begin();
    const data = await loader.load(true, [this.last], this.abort.signal);
    if (data === undefined || this.isCancelled) return undefined;
    const { fingerprint, positives } = data;
    onProgress(LOADING_FEEDBACK, positives, positives);
    const settings = await als.settings();
    this.given = await this.attempt('reading the given model', this.parts.given);
    if (this.isUnchanged(data, settings)) return { generation: this.last!, positives, unchanged: true };
    const judged = await als.judge(data, settings, this.last?.parts.als, this.control('als', onProgress));
    if (judged === undefined) return undefined;
    const learned = await this.attempt('how to rank', () => this.learnRanking(data, judged, onProgress));
    if (this.isCancelled) return undefined;
    this.parts.onReading();
    const all = await loader.load(false, [this.last, judged], this.abort.signal);
    if (all === undefined) return undefined;
    if (again > 0 && all.positives > GROWTH_MAX * positives) {
      this.options.log.info(
        { positives, now: all.positives },
        'much has come meanwhile: the fit begins anew',
      );
      trainer.memory.clear();
      return this.fit(number, onProgress, again - 1);
    }
    const control = this.control('als', onProgress, ON_ALL_FEEDBACK, [judged, learned?.outcomes]);
    const name = trainer.options.shelf.nameOf('als', number)!;
    const placed = await als.finish(judged, all, fingerprint, name, control);
    trainer.memory.release(judged.placed);
    if (placed === undefined) return undefined;
    const ranking = learned?.ranking ?? (this.options.clickThrough ? UNTAUGHT : undefined);
    const rest = await this.trainRest(number, all, { ...learned, ranking }, placed, onProgress);
    if (this.isCancelled) return undefined;
    const { isWhole, parts } = rest;
    const generation = { number, ranking, choice: learned?.choice, parts };
    await this.save(generation, { fingerprint, settings, isWhole }, term);
    this.last = generation;
    return { generation, positives: all.positives, unchanged: false };
  }

  /** Trains what a generation has beside the collaborative model, with everything. */
  private async trainRest(
    number: number,
    data: TrainingData,
    { ranking, outcomes = {} }: Partial<RankingAndOutcomes>,
    als: PartPlaced<'als'>,
    onProgress: OnProgress,
  ): Promise<{ readonly parts: PlacedParts; readonly isWhole: boolean }> {
    const held = [als, outcomes];
    const parts: Partial<Record<PartName, unknown>> = { als };
    let isWhole = true;
    for (const name of TRAINED_PARTS) {
      const { stage, training } = partOf(name);
      const features = featuresOf(name);
      const isLookedAt = ranking !== undefined && everLooksAt(ranking, features);
      const options = this.optionsOf(name, this.given?.model, outcomes[name]);
      if (options === undefined || (!isLookedAt && !training!.isAlwaysWanted)) continue;
      const control = this.control(name, onProgress, features.length > 0 ? ON_ALL_FEEDBACK : '', held);
      parts[name] = await this.attempt(stage, () => this.trainPart(name, data, options, number, control));
      isWhole &&= parts[name] !== undefined;
    }
    parts.userNeighbors = await this.attempt('the comparison of users', () =>
      this.indexUsers(data, onProgress, held),
    );
    return { parts: parts as PlacedParts, isWhole };
  }

  /** @returns undefined where there is nothing to train */
  private optionsOf<Name extends PartName>(
    name: Name,
    given?: GivenModel,
    judged?: unknown,
  ): PartOptions<Name> | undefined {
    const { serving } = this.parts.trainer.options;
    const settings = { ...this.options, given };
    return partOf(name).training!.options(settings, serving, judged) as PartOptions<Name> | undefined;
  }

  private async trainPart<Name extends PartName>(
    name: Name,
    data: TrainingData,
    options: PartOptions<Name>,
    number: number,
    control: Parameters<PartTrainer['train']>[3],
  ): Promise<PartPlaced<Name> | undefined> {
    const { trainer } = this.parts;
    const run = await trainer.train(name, data, options, control);
    return run && trainer.finish(name, run, data.fingerprint, trainer.options.shelf.nameOf(name, number));
  }

  /** Trains the other parts without what is held out, and learns from that how to rank by all of them together. */
  private async learnRanking(
    data: TrainingData,
    { placed: als }: JudgedAls,
    onProgress: OnProgress,
  ): Promise<RankingAndOutcomes | undefined> {
    const { clickThrough, log, spans } = this.options;
    const { trainer, pool, planOf } = this.parts;
    if (!clickThrough) return undefined;
    const heldOut = heldOutInStore(data);
    if (heldOut.userRows.length === 0) {
      log.warn(`too few users have come back to rank by: ${UNTAUGHT_LISTS}`);
      return undefined;
    }
    const parts: Partial<Record<PartName, unknown>> = { als };
    const outcomes: Partial<Record<PartName, unknown>> = {};
    for (const name of TRAINED_PARTS.filter((part) => featuresOf(part).length > 0)) {
      const judged = await this.trainJudged(name, data, [parts, outcomes], onProgress);
      parts[name] = judged?.placed;
      outcomes[name] = judged?.outcome;
    }
    if (this.isCancelled) return undefined;
    onProgress(LEARNING_TO_RANK, 0, 1);
    const plan = await planOf({ number: 0, ranking: undefined, parts: parts as PlacedParts });
    log.info({ stage: LEARNING_TO_RANK, plannedMb: plannedMb(rankingBytes(plan, data)) }, STAGE_MEMORY);
    const asked = { plan, heldOut, heldOutSinceMs: data.heldOutSinceMs, spans, slot: 0 };
    const learned = await this.retry(LEARNING_TO_RANK, (cancelled) =>
      pool.run({ kind: 'learnRanking', ...asked, cancelled }),
    );
    onProgress(LEARNING_TO_RANK, 1, 1);
    const { als: _goesOn, ...rest } = parts;
    trainer.memory.release(rest);
    if (learned === undefined) {
      log.warn(`no candidate was liked later on: ${UNTAUGHT_LISTS}`);
      return undefined;
    }
    const { choice, ranking } = learned;
    const { chosen, users } = choice;
    const clicks = (parts as PlacedParts).click?.header.quality;
    const judged = { clicks, weights: weightsOf(ranking), users, discoveries: ranking.discoveries };
    const table = choiceTable(choice);
    log.info({ ...judged, table }, `lists are ranked by ${chosen}, chosen on held-out feedback`);
    return { ...learned, outcomes };
  }

  /** Trains a part without what is held out; undefined where that failed, which leaves the other parts to rank by. */
  private trainJudged<Name extends PartName>(
    name: Name,
    data: TrainingData,
    held: readonly unknown[],
    onProgress: OnProgress,
  ) {
    const { trainer } = this.parts;
    const options = this.optionsOf(name, this.given?.judged);
    if (options === undefined) return undefined;
    return this.attempt(partOf(name).stage, async () => {
      const control = this.control(name, onProgress, '', held);
      const run = await trainer.train(name, data, options, control);
      return run && { outcome: run.outcome, placed: await trainer.finish(name, run, data.fingerprint) };
    });
  }

  /** Lays out the users of what serves. @returns it with them; undefined where nothing was to be done or another serves by now */
  async indexServing(): Promise<PlacedGeneration | undefined> {
    const { last } = this;
    if (!this.asksUsers || last === undefined || last.parts.userNeighbors !== undefined) return undefined;
    const userNeighbors = await this.attempt('the comparison of users', async () => {
      const data = await this.parts.loader.load(false, [last], this.abort.signal);
      return data && this.indexUsers(data, () => {});
    });
    if (userNeighbors === undefined || this.last !== last) return undefined;
    this.last = { ...last, parts: { ...last.parts, userNeighbors } };
    return this.last;
  }

  private async indexUsers(
    data: TrainingData,
    onProgress: OnProgress,
    held: readonly unknown[] = [],
  ): Promise<PartPlaced<'userNeighbors'> | undefined> {
    if (!this.asksUsers) return undefined;
    const userCount = data.rows.users.length;
    const control = this.control('userNeighbors', onProgress, '', held);
    control.tell(0, userCount);
    const options = this.optionsOf('userNeighbors')!;
    const placed = await this.trainPart('userNeighbors', data, options, 0, control);
    control.tell(userCount, userCount);
    return placed;
  }

  /** Control of the training of a part. @param held values that stay beside the generation that serves */
  private control(part: PartName, onProgress: OnProgress, more = '', held: readonly unknown[] = []) {
    // The part that serves meanwhile is counted by the part's own formula.
    const { [part]: _own, ...serving } = this.last?.parts ?? {};
    return {
      signal: this.abort.signal,
      held: [serving, ...held],
      tell: (done: number, total: number, detail?: string) =>
        onProgress(partOf(part).stage + more, done, total, detail),
    };
  }

  private isUnchanged({ fingerprint }: TrainingData, settings: AlsSettings): boolean {
    const manifest = this.lastManifest;
    return (
      this.last !== undefined &&
      manifest?.isWhole === true &&
      manifest.trainedWith === this.trainedWith &&
      manifest.fingerprint === fingerprint &&
      isDeepStrictEqual(manifest.settings, settings)
    );
  }

  /** The configuration of the parts beside the collaborative one, as text. */
  private get trainedWith(): string {
    const { log: _l, userNeighborType: _t, usesUsers: _u, ...settings } = this.options;
    return JSON.stringify({ ...settings, parts: PART_NAMES, given: this.given?.key });
  }

  private async save(
    generation: PlacedGeneration,
    rest: Pick<GenerationManifest, 'fingerprint' | 'settings' | 'isWhole'>,
    term: number,
  ): Promise<void> {
    const { number, ranking, choice } = generation;
    const { shelf } = this.parts.trainer.options;
    const parts = savedParts(generation, shelf);
    const manifest = { generation: number, ranking, choice, parts, trainedWith: this.trainedWith, ...rest };
    await shelf.write(manifest, term);
    this.lastManifest = manifest;
  }

  /** Reports a failure of a part that a fit can do without. */
  private async attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!this.isCancelled)
        this.options.log.error({ err: error }, `${what} failed and is left out of this fit`);
      return undefined;
    }
  }

  private async retry<T>(what: string, work: (cancelled: CancelFlag) => Promise<T>): Promise<T> {
    const run = () => cancelledBy(this.abort.signal, work);
    try {
      return await run();
    } catch (error) {
      if (this.isCancelled) throw error;
      this.options.log.warn({ err: error }, `${what} failed; trying again`);
      return run();
    }
  }

  get isCancelled(): boolean {
    return this.abort.signal.aborted;
  }
}
