import { isLoopback } from '../config/base-url.ts';
import type { Task, Trouble } from '../domain/admin-schemas.ts';
import { formatDuration } from '../domain/duration.ts';
import {
  countTrouble,
  emptyTrouble,
  type FeedbackFacts,
  typeTrouble,
  unusedTrouble,
  valueTrouble,
} from '../domain/feedback-troubles.ts';

export interface Facts extends FeedbackFacts {
  /** Why the stores do not answer; `""` when they do. */
  readonly storeError: string;
  readonly hasModel: boolean;
  /** Since the model was fitted or last found unchanged, milliseconds; undefined when that is not known. */
  readonly modelAgeMs: number | undefined;
  readonly fitPeriodMs: number;
  readonly lastFit: Task | undefined;
  readonly isFitting: boolean;
  /** True when no positive feedback lies in the popular window. */
  readonly popularIsEmpty: boolean;
  readonly popularWindowMs: number;
  /** True when no item that may be shown has a Timestamp. */
  readonly latestIsEmpty: boolean;
  /** `[recommend.online] fallback_recommend`. */
  readonly fallbacks: readonly string[];
  readonly diskFreeBytes: number | undefined;
  readonly hasKey: boolean;
  readonly host: string;
  readonly nodeTroubles: readonly Trouble[];
}

/** A model that is older than so many fit periods should have been replaced. */
const STALE_PERIODS = 3;
const DISK_FREE_MIN_BYTES = 2 ** 30;
/** Troubles, worst first. */
export function findTroubles(facts: Facts): Trouble[] {
  const found = [
    storeTrouble,
    typeTrouble,
    unusedTrouble,
    valueTrouble,
    emptyTrouble,
    countTrouble,
    fitTrouble,
    popularTrouble,
    latestTrouble,
    diskTrouble,
    keyTrouble,
    (known: Facts) => known.nodeTroubles,
  ].flatMap((find) => find(facts) ?? []);
  const order = ['error', 'warning', 'hint'];
  return found.sort((a, b) => order.indexOf(a.Severity) - order.indexOf(b.Severity));
}

function storeTrouble({ storeError }: Facts): Trouble | undefined {
  if (storeError === '') return undefined;
  return {
    Code: 'store_unavailable',
    Severity: 'error',
    Message: `The store does not answer: ${storeError}`,
    Advice: 'Look at the log and at the disk, then start the service again.',
  };
}

function fitTrouble(facts: Facts): Trouble | undefined {
  const { lastFit, hasModel, isFitting, modelAgeMs, fitPeriodMs } = facts;
  if (lastFit?.State === 'failed') {
    return {
      Code: 'fit_failed',
      Severity: hasModel ? 'warning' : 'error',
      Message: `The last fit failed: ${lastFit.Error?.replace(/\.$/, '') ?? 'for no reason that is known'}${hasModel ? '; the model before it serves' : ''}.`,
      Advice: 'The log has the whole error; the next fit tries again.',
    };
  }
  if (!hasModel || isFitting || modelAgeMs === undefined || modelAgeMs < STALE_PERIODS * fitPeriodMs)
    return undefined;
  return {
    Code: 'stale_model',
    Severity: 'warning',
    Message: `The model is ${formatAge(modelAgeMs)} old, and a fit was due every ${formatDuration(fitPeriodMs)}.`,
    Advice: 'See on the page Tasks how long fits take and whether they fail.',
  };
}

function popularTrouble({
  popularIsEmpty,
  positives,
  popularWindowMs,
  isCounted,
}: Facts): Trouble | undefined {
  if (!popularIsEmpty || positives === 0 || !isCounted) return undefined;
  return {
    Code: 'popular_empty',
    Severity: 'warning',
    Message: `The popular list is empty: no positive feedback is from the last ${formatDuration(popularWindowMs)}.`,
    Advice: 'Set [recommend.popular] popular_window so that it takes in the data there is.',
  };
}

/** Of those that may be asked where a list ends, only popular and latest items are there for somebody unknown. */
function latestTrouble({ latestIsEmpty, fallbacks, items, positives }: Facts): Trouble | undefined {
  if (!latestIsEmpty || items === 0 || positives === 0) return undefined;
  if (!fallbacks.includes('latest') || fallbacks.includes('popular')) return undefined;
  return {
    Code: 'latest_empty',
    Severity: 'warning',
    Message:
      'The latest list is empty, for no item has a Timestamp: who has no list of their own is shown nothing.',
    Advice: 'Put "popular" into [recommend.online] fallback_recommend, or send items with their Timestamp.',
  };
}

function diskTrouble({ diskFreeBytes }: Facts): Trouble | undefined {
  if (diskFreeBytes === undefined || diskFreeBytes >= DISK_FREE_MIN_BYTES) return undefined;
  return {
    Code: 'disk_nearly_full',
    Severity: 'error',
    Message: `The disk of the data folder has ${Math.round(diskFreeBytes / 2 ** 20)} MiB left.`,
    Advice: 'Make room, or move the data folder: a full disk refuses writes.',
  };
}

function keyTrouble({ hasKey, host }: Facts): Trouble | undefined {
  if (hasKey || isLoopback(host)) return undefined;
  return {
    Code: 'no_key',
    Severity: 'hint',
    Message: `No API key is set, and the service listens on ${host}: who reaches it can read and write all.`,
    Advice: 'Set [server] api_key (FURZE_SERVER_API_KEY), and put TLS in front.',
  };
}

/** `18 min`, `3 h`, `2 days`. @param ms milliseconds */
export function formatAge(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 1440)} days`;
}
