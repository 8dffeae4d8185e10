import { getRequest, postRequest } from './connection.ts';
import { alternate, RequestRing, sendAll } from './load.ts';
import { type ServerProcess, startService, withFolder } from './processes.ts';
import { type Row, ratioRow } from './statistics.ts';
import { itemIdOf, userIdOf, type WorldSize, worldRequests } from './world.ts';

const PRESSURE = { connections: 64, depth: 1 };
/** Requests made beforehand, and lists shown before. */
const RING_REQUESTS = 2000;
const SHOWN_LISTS = 500;
/** Items of a list that is shown. */
const SHOWN = 10;
const MORE = `
[placement.home]
exclude = ["${itemIdOf(0)}"]
[experiment.sizes]
placement = "home"
variants = [{ name = "now", share = 0.5 }, { name = "short", share = 0.5, override = { length = 8 } }]
`;

/** Lists of a placement against lists of a question with the same wish, and impressions against feedback. */
export function benchPlacements(size: WorldSize, rounds: number, roundMs: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const server = await startService(folder, [], { more: MORE });
    await sendAll(server.port, [...worldRequests(size)], 1);
    const userOf = (at: number) => userIdOf((at * 7919) % size.users);
    const read = (query: string) => (at: number) => getRequest(`/api/recommend/${userOf(at)}?n=10&${query}`);
    const records = await shownLists(server, userOf);
    const recordAt = (at: number) => records[at % records.length]!;
    const row = async (
      bench: string,
      request: (at: number) => Buffer,
      reference: string,
      other: (at: number) => Buffer,
      aim: string,
    ) => {
      const sides = [request, other].map((make) => ({
        server,
        ring: new RequestRing(Array.from({ length: RING_REQUESTS }, (_, at) => make(at))),
      }));
      const [own, its] = await alternate(sides, PRESSURE, rounds, roundMs);
      const unit = 'requests/CPU second of the main thread';
      return ratioRow(bench, unit, own!.perCpuSecond, reference, its!.perCpuSecond, aim);
    };
    const rows = [
      await row(
        'a list of a placement under an experiment, with its token',
        read('placement=home'),
        'the same wish without one',
        read(`exclude=${itemIdOf(0)}`),
        '>= 0.9',
      ),
      await row(
        `POST /api/impressions, ${SHOWN} items each`,
        (at) => postRequest('/api/impressions', [recordAt(at).impression]),
        'POST /api/feedback, one each',
        (at) => postRequest('/api/feedback', [recordAt(at).feedback]),
        '',
      ),
    ];
    await server.stop();
    return rows;
  });
}

/** What users are shown, with the tokens of their lists. */
async function shownLists({ port }: ServerProcess, userOf: (at: number) => string) {
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
