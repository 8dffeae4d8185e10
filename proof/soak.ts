// npm run soak -- --minutes N: an even load of reads and writes on records that do not grow in number; prints memory,
// disk, file handles, processor time and times over time, and fails where one of them climbs. Times are judged against those
// of a bare handler that is asked all the while, and only while nothing else keeps the machine busy, so that a machine
// which gets busy is not taken for a service which gets slow.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Summary } from '../src/domain/admin-schemas.ts';
import { createRandom, type Random } from '../src/domain/random.ts';
import { Control } from './control.ts';
import { FurzeProcess, pause, type Settings } from './furze-process.ts';
import { runProof } from './run-proof.ts';

const REQUESTS_PER_SECOND = 200;
/** One request to the bare handler for so many to the service. */
const CONTROL_EVERY = 4;
const AT_ONCE = 16;
const USERS = 2000;
const ITEMS = 500;
/** Feedback is about so many items of each user, so that it is given and taken back but does not grow in number. */
const ITEMS_A_USER = 8;
const SAMPLES = 30;
/**
 * The first part of the run fills caches and lets the compiler warm up; it is not judged. It lasts until so much of all that
 * is to be asked has been asked and so many fits have come to their end, on a slow machine longer than its share of the time.
 */
const WARM_UP_SHARE = 0.4;
const WARM_UP_FITS = 3;
/** A warm-up that takes longer has failed. */
const WARM_UP_MS_MAX = 1_800_000;
/** Fits follow each other within this share of the run, and within so many seconds at most. */
const FIT_PERIOD_SHARE = 1 / 6;
const FIT_PERIOD_SECONDS_MAX = 20;

interface Sample {
  readonly second: number;
  readonly residentMb: number;
  readonly diskMb: number;
  readonly handles: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the main thread for each request. */
  readonly cpuMs: number;
  /** Share of the machine's processor time that others than the service, this proof and the bare handler took. */
  readonly others: number;
  /** The same as `p50Ms` and `p99Ms` of the bare handler. */
  readonly controlP50Ms: number;
  readonly controlP99Ms: number;
}

type Size = 'residentMb' | 'diskMb' | 'handles';

/**
 * What a quantity may climb by from the end of the warm-up to the end, by the line through its samples: a share of its
 * mean, and at least so much, under which it is noise.
 */
const CLIMB_MAX: Readonly<Record<Size, { readonly share: number; readonly least: number }>> = {
  residentMb: { share: 0.2, least: 80 },
  diskMb: { share: 0.25, least: 64 },
  handles: { share: 0.1, least: 20 },
};
/**
 * What processor time, and times against those of the bare handler, may grow by from the end of the warm-up to the end: a
 * factor, by the line through their logarithms, when the growth is surely more than that, by three standard errors of the
 * line's slope.
 */
const SLOWER_MAX = 1.5;
const STANDARD_ERRORS = 3;
/**
 * Times are judged where others took less of the machine than this. Requests that come at a fixed rate queue up without bound
 * where the service gets less than it needs, and the bare handler, which needs next to nothing, shows none of that.
 */
const OTHERS_MAX = 0.1;
/** Linux counts the time of processes in hundredths of a second for all who ask. */
const TICK_MS = 10;
/** Fewer samples tell no slope. */
const JUDGED_TIMES_MIN = 6;

await runProof('minutes', 60, async ({ amount: minutes, seed, folder }) => {
  // Optimized as it is for users.
  const furze = await FurzeProcess.serve(folder, settingsOf(minutes), []);
  const control = await Control.start();
  const random = createRandom(seed);
  await fill(furze.url, random);
  const samples: Sample[] = [];
  const windowMs = (minutes * 60_000) / SAMPLES;
  const judgedCount = Math.ceil(SAMPLES * (1 - WARM_UP_SHARE));
  const warmUpRequests = WARM_UP_SHARE * minutes * 60 * REQUESTS_PER_SECOND;
  let warmUpCount = 0;
  let asked = 0;
  let faults = 0;
  const startMs = performance.now();
  while (warmUpCount === 0 || samples.length < warmUpCount + judgedCount) {
    const before = processorTimes(furze.pid, control.pid);
    const { times, controlTimes, refused } = await load(furze.url, control.url, random, windowMs);
    const after = processorTimes(furze.pid, control.pid);
    faults += refused;
    if (furze.hasEnded) throw new Error(`furze ended:\n${furze.output.slice(-3000)}`);
    const second = Math.round((performance.now() - startMs) / 1000);
    const sample = {
      ...measure(furze.pid, folder),
      second,
      requests: times.length,
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      cpuMs: (after.mainThreadMs - before.mainThreadMs) / times.length,
      others: (after.othersMs - before.othersMs) / (after.machineMs - before.machineMs),
      controlP50Ms: quantile(controlTimes, 0.5),
      controlP99Ms: quantile(controlTimes, 0.99),
    };
    samples.push(sample);
    asked += times.length;
    print(sample);
    if (warmUpCount > 0) continue;
    if (asked >= warmUpRequests && (await generationOf(furze.url)) >= WARM_UP_FITS)
      warmUpCount = samples.length;
    else if (performance.now() - startMs > WARM_UP_MS_MAX) throw new Error('it is not warm in half an hour');
  }
  await control.stop();
  await furze.stop();
  const judged = samples.slice(warmUpCount);
  const climbing = (Object.keys(CLIMB_MAX) as Size[]).flatMap((name) => climbOf(name, judged) ?? []);
  const served = judged.filter(({ others }) => others < OTHERS_MAX);
  const slower = [slowerBy('processor time a request', judged, ({ cpuMs }) => cpuMs)];
  if (served.length >= JUDGED_TIMES_MIN) {
    slower.push(
      slowerBy('p50 against a bare handler', served, ({ p50Ms, controlP50Ms }) => p50Ms / controlP50Ms),
      slowerBy('p99 against it', served, ({ p99Ms, controlP99Ms }) => p99Ms / controlP99Ms),
    );
  }
  const ofTimes = `times told by ${served.length} of ${judged.length} samples${served.length < JUDGED_TIMES_MIN ? ', too few: the machine was busy' : ''}`;
  climbing.push(...slower.flatMap(({ fault }) => fault ?? []));
  const last = samples.at(-1) as Sample;
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  return {
    line: `soak: ${minutes} minutes, ${requests.toLocaleString('en')} requests, ${faults} failed; at the end ${last.residentMb} MB resident, ${last.diskMb} MB on disk, ${last.handles} handles; ${slower.map(({ words }) => words).join(', ')} (${ofTimes}); ${climbing.length === 0 ? 'nothing climbs' : climbing.join('; ')}`,
    holds: faults === 0 && climbing.length === 0,
  };
});

function settingsOf(minutes: number): Settings {
  const seconds = Math.min(FIT_PERIOD_SECONDS_MAX, Math.ceil(minutes * 60 * FIT_PERIOD_SHARE));
  return {
    RECOMMEND_COLLABORATIVE_MODEL_FIT_PERIOD: `${seconds}s`,
    RECOMMEND_OFFLINE_CHECK_RECOMMEND_PERIOD: '5s',
  };
}

/** Number of the generation that serves; 0 without one. */
async function generationOf(url: string): Promise<number> {
  const { Model } = (await (await fetch(`${url}/api/admin/summary`)).json()) as Summary;
  return Model?.Generation ?? 0;
}

function print({ second, residentMb, diskMb, handles, requests, cpuMs, others, ...times }: Sample): void {
  const pad = (value: number, width: number) => String(value).padStart(width);
  const pair = (p50: number, p99: number) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
  console.log(
    `${pad(second, 6)} s ${pad(residentMb, 6)} MB resident ${pad(diskMb, 6)} MB on disk ${pad(handles, 4)} handles ${pad(requests, 6)} requests, p50 / p99 ${pair(times.p50Ms, times.p99Ms)}, bare handler ${pair(times.controlP50Ms, times.controlP99Ms)}, processor ${cpuMs.toFixed(2)} ms a request, others ${(others * 100).toFixed()} %`,
  );
}

/** A line through values at even distances. */
function lineThrough(values: readonly number[]): { mean: number; slope: number; standardError: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = (values.length - 1) / 2;
  let covariance = 0;
  let variance = 0;
  for (const [at, value] of values.entries()) {
    covariance += (at - middle) * (value - mean);
    variance += (at - middle) ** 2;
  }
  const slope = covariance / variance;
  const squares = values.reduce((sum, value, at) => sum + (value - mean - slope * (at - middle)) ** 2, 0);
  return { mean, slope, standardError: Math.sqrt(squares / (values.length - 2) / variance) };
}

/** How much a quantity climbs over the samples, in words, when that is too much. */
function climbOf(name: Size, samples: readonly Sample[]): string | undefined {
  const { mean, slope } = lineThrough(samples.map((sample) => sample[name]));
  const climb = slope * (samples.length - 1);
  const { share, least } = CLIMB_MAX[name];
  return climb > Math.max(least, share * mean)
    ? `${name} climbs by ${climb.toFixed(1)} from ${mean.toFixed(1)}`
    : undefined;
}

/** How much a time has grown over the samples: the factor, and a fault when it is too much. */
function slowerBy(
  name: string,
  samples: readonly Sample[],
  timeOf: (sample: Sample) => number,
): { words: string; fault: string | undefined } {
  const { slope, standardError } = lineThrough(samples.map((sample) => Math.log(timeOf(sample))));
  const steps = samples.length - 1;
  const surely = Math.exp((slope - STANDARD_ERRORS * standardError) * steps);
  const words = `${name} times ${Math.exp(slope * steps).toFixed(2)}`;
  return { words, fault: surely > SLOWER_MAX ? `${words}, surely ${surely.toFixed(2)}` : undefined };
}

async function fill(url: string, random: Random): Promise<void> {
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    ItemId: `i${at}`,
    Labels: [`l${at % 20}`],
    Timestamp: '2024-05-01',
  }));
  await send(url, 'POST', '/api/items', items);
  const records = Array.from({ length: USERS * 5 }, (_, at) => like(at % USERS, random));
  await send(url, 'POST', '/api/feedback', records);
}

/** One of the items that a user has to do with. */
function itemOf(user: number, random: Random): string {
  return `i${(user * 31 + random.below(ITEMS_A_USER) ** 2 * 5) % ITEMS}`;
}

function like(user: number, random: Random) {
  const Timestamp = new Date(1_714_521_600_000 + random.below(86_400_000)).toISOString();
  return {
    FeedbackType: random.below(4) === 0 ? 'read' : 'like',
    UserId: `u${user}`,
    ItemId: itemOf(user, random),
    Timestamp,
  };
}

/** An even load for some time. */
async function load(
  url: string,
  controlUrl: string,
  random: Random,
  ms: number,
): Promise<{ times: number[]; controlTimes: number[]; refused: number }> {
  const times: number[] = [];
  const controlTimes: number[] = [];
  let refused = 0;
  const startMs = performance.now();
  let sent = 0;
  const client = async () => {
    for (;;) {
      const number = sent++;
      const dueMs = startMs + (number / REQUESTS_PER_SECOND) * 1000;
      // A machine that cannot keep up is asked less, not longer.
      if (dueMs - startMs > ms || performance.now() - startMs > ms) return;
      await pause(Math.max(0, dueMs - performance.now()));
      if (number % CONTROL_EVERY === 0) {
        const askedMs = performance.now();
        await send(controlUrl, 'GET', '/');
        controlTimes.push(performance.now() - askedMs);
      }
      const begunMs = performance.now();
      if (!(await someRequest(url, random))) refused++;
      times.push(performance.now() - begunMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return { times, controlTimes, refused };
}

function someRequest(url: string, random: Random): Promise<boolean> {
  const user = random.below(USERS);
  const kind = random.below(20);
  if (kind < 10) return send(url, 'GET', `/api/recommend/u${user}?n=10`);
  if (kind < 12) return send(url, 'GET', `/api/item/i${random.below(ITEMS)}/neighbors?n=10`);
  if (kind < 13) return send(url, 'GET', '/api/popular?n=10');
  if (kind < 14) return send(url, 'GET', '/metrics');
  if (kind < 15) return send(url, 'DELETE', `/api/feedback/u${user}/${itemOf(user, random)}`);
  if (kind < 16) return send(url, 'POST', '/api/session/recommend', [like(user, random)]);
  return send(url, 'PUT', '/api/feedback', [like(user, random)]);
}

/** @returns whether it was answered as it should be */
async function send(url: string, method: string, path: string, body?: unknown): Promise<boolean> {
  try {
    const answer = await fetch(url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    return answer.status === 200 || answer.status === 404;
  } catch {
    return false;
  }
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function measure(pid: number, folder: string): Pick<Sample, 'residentMb' | 'diskMb' | 'handles'> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const residentKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
  // What is allocated: the stores' files have holes.
  const blocks = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0)
    .reduce((sum, count) => sum + count, 0);
  return {
    residentMb: Math.round(residentKb / 1000),
    diskMb: Math.round((blocks * 512) / 1e6),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Processor time since the machine began, in ms: of the service's main thread, of all processors, and what others had of it. */
function processorTimes(
  pid: number,
  controlPid: number,
): { readonly mainThreadMs: number; readonly machineMs: number; readonly othersMs: number } {
  const ticksOf = (text: string, from: number, to: number) => text.split(/ +/).slice(from, to).map(Number);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  // user, nice, system, idle, iowait, irq, softirq, steal
  const machine = ticksOf(/^cpu .*$/m.exec(readFileSync('/proc/stat', 'utf8'))![0], 1, 9);
  const idle = machine[3]! + machine[4]!;
  // What follows the name, which may have spaces in it: utime and stime are its 12th and 13th fields.
  const own = [pid, controlPid, process.pid].map((of) =>
    sum(ticksOf(readFileSync(`/proc/${of}/stat`, 'utf8').replace(/^.*\) /s, ''), 11, 13)),
  );
  const [ranNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return {
    mainThreadMs: Number(ranNs) / 1e6,
    machineMs: sum(machine) * TICK_MS,
    othersMs: (sum(machine) - idle - sum(own)) * TICK_MS,
  };
}
