import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { ChildService } from './child-service.ts';
import { Asker, getRequest, postRequest } from './connection.ts';
import { alternate, measureLatencies, RequestRing, sendAll } from './load.ts';
import { startService, withFolder } from './processes.ts';
import { makeReadFolder } from './reads.ts';
import { type Row, ratioRow } from './statistics.ts';
import { itemIdOf, userIdOf, type WorldSize, worldRequests } from './world.ts';

const PRESSURE = { connections: 64, depth: 1 };
/** Requests made beforehand, each of another user, and lists shown before. */
const RING_REQUESTS = 2000;
const SHOWN_LISTS = 500;
/** Items of a list that is shown. */
const SHOWN = 10;
/** A flood of impressions is 10,000 a second. */
const FLOOD = { batchRecords: 200, paceMs: 20 };
const AIM_MS = 5;
const RULES = `
exclude = ["${itemIdOf(0)}"]
filter = { and = [{ category = { in = [${Array.from({ length: 18 }, (_, at) => `"category-${at}"`).join(', ')}] } }, { not = { label = "none" } }] }
pins = [{ item = "${itemIdOf(5)}", place = 3 }]
`;
const MORE = `
[placement.home]${RULES}
[placement.varied]${RULES}
[experiment.sizes]
placement = "varied"
variants = [{ name = "now", share = 0.5 }, { name = "new", share = 0.5, override = { max_per_category = 3 } }]
`;

type Request = (at: number) => Buffer;

/** Lists of placements against the user's own, each kept; impressions against feedback, and turns of the main thread under a flood of them. */
export async function benchPlacements(size: WorldSize, rounds: number, roundMs: number): Promise<Row[]> {
  const userOf = (at: number) => userIdOf((at * 7919) % size.users);
  const read = (query: string) => (at: number) => getRequest(`/api/recommend/${userOf(at)}?n=10${query}`);
  const folder = await makeReadFolder(size);
  const server = await startService(folder, [], { learns: false, more: MORE });
  const records = await shownLists(server.port, userOf);
  const recordAt = (at: number) => records[at % records.length]!;
  const row = async (bench: string, request: Request, reference: string, other: Request, aim = '') => {
    const all = [request, other].map((make) => Array.from({ length: RING_REQUESTS }, (_, at) => make(at)));
    // So that what is kept of an answer is there.
    for (const requests of all) for (let time = 0; time < 2; time++) await sendAll(server.port, requests, 64);
    const sides = all.map((requests) => ({ server, ring: new RequestRing(requests) }));
    const [own, its] = await alternate(sides, PRESSURE, rounds, roundMs);
    const unit = 'requests/CPU second of the main thread';
    return ratioRow(bench, unit, own!.perCpuSecond, reference, its!.perCpuSecond, aim);
  };
  const ofUser = ["the user's own list", read('')] as const;
  const rows = [
    await row(
      'a list of a placement with rules, its token too',
      read('&placement=home'),
      ...ofUser,
      '>= 0.9',
    ),
    await row('the same under an experiment', read('&placement=varied'), ...ofUser, '>= 0.9'),
    await row(
      `POST /api/impressions, ${SHOWN} items each`,
      (at) => postRequest('/api/impressions', [recordAt(at).impression]),
      'POST /api/feedback, one each',
      (at) => postRequest('/api/feedback', [recordAt(at).feedback]),
    ),
  ];
  await server.stop();
  return [...rows, await withFolder((own) => flooded(own, size, userOf, rounds * roundMs))];
}

/** The longest turn of the main thread while impressions flood in and lists are read. */
async function flooded(
  folder: string,
  size: WorldSize,
  userOf: (at: number) => string,
  forMs: number,
): Promise<Row> {
  const service = await ChildService.start(folder);
  const { port } = service;
  await sendAll(port, [...worldRequests(size)], 1);
  await fetch(`http://127.0.0.1:${port}/api/admin/placements/home`, { method: 'PUT', body: '{}' });
  const records = await shownLists(port, userOf);
  const batch = Array.from(
    { length: FLOOD.batchRecords },
    (_, at) => records[at % records.length]!.impression,
  );
  const request = postRequest('/api/impressions', batch);
  const reads = Array.from({ length: RING_REQUESTS }, (_, at) =>
    getRequest(`/api/recommend/${userOf(at)}?n=10&placement=home`),
  );
  let posted = 0;
  const flood = async (endMs: number) => {
    const asker = await Asker.open(port);
    for (let dueMs = performance.now(); dueMs < endMs; dueMs += FLOOD.paceMs) {
      await delay(Math.max(0, dueMs - performance.now()));
      await asker.ask(request);
      posted += batch.length;
    }
    asker.close();
  };
  const both = (ms: number) => {
    const endMs = performance.now() + ms;
    return Promise.all([flood(endMs), measureLatencies(port, reads, 1, () => performance.now() < endMs)]);
  };
  await both(forMs / 4);
  posted = 0;
  const longestMs = await service.longestTurnOf(() => both(forMs));
  await service.stop();
  const rate = Math.round((posted * 1000) / forMs);
  return ratioRow(
    `longest turn while ${rate} impressions/s of ${SHOWN} items arrive beside reads`,
    'ms',
    longestMs,
    'the aim',
    AIM_MS,
    '<= 1',
  );
}

/** What users are shown, with the tokens of their lists. */
async function shownLists(port: number, userOf: (at: number) => string) {
  const records = [];
  for (let at = 0; at < SHOWN_LISTS; at++) {
    const UserId = userOf(at);
    const answer = await fetch(`http://127.0.0.1:${port}/api/recommend/${UserId}?placement=home&n=${SHOWN}`);
    const Items = (await answer.json()) as string[];
    const Recommendation = answer.headers.get('X-Furze-Recommendation');
    const feedback = { FeedbackType: 'seen', UserId, ItemId: Items[0], Timestamp: '2025-01-01' };
    records.push({ impression: { UserId, Recommendation, Items }, feedback });
  }
  return records;
}
