import type { Random } from '../../src/domain/random.ts';
import { ask } from './ask.ts';
import type { Node } from './node.ts';
import type { StaleMarks } from './stale-marks.ts';
import { ITEMS } from './tastes.ts';

const USERS = 6;
/** Items that a user says to have seen. */
const SEEN = 3;

interface Seen {
  readonly UserId: string;
  readonly Placement: string;
  readonly Items: readonly string[];
}

/**
 * Staff who take another item off a placement in each round, and users who tell what they saw of its lists: what was taken off
 * stands in no list of any node, and what was seen is told by each.
 */
export class Shelves {
  private readonly random: Random;
  private readonly stale: StaleMarks;
  /** A name whose change failed is not used again, since nobody knows which rules it has. */
  private named = 0;
  /** What was acknowledged to have been seen, and how often. */
  private readonly seen = new Map<string, number>();
  changes = 0;
  impressions = 0;
  readonly wrong: string[] = [];

  constructor(random: Random, stale: StaleMarks) {
    this.random = random;
    this.stale = stale;
  }

  /** Changes a placement by the one node, asks the other for its list, and tells the first what was seen. @returns whether all was answered */
  async round(to: Node, from: Node): Promise<boolean> {
    const name = `shelf${this.named}`;
    const off = `i${this.random.below(ITEMS)}`;
    const rules = JSON.stringify({ exclude: [off], recommenders: ['latest'] });
    const put = await ask(to, `/api/admin/placements/${name}`, { method: 'PUT', body: rules });
    if (put?.status !== 200) {
      this.named++;
      return false;
    }
    this.changes++;
    const UserId = `u${this.random.below(USERS)}`;
    const list = await ask(from, `/api/recommend/${UserId}?placement=${name}&n=${ITEMS}`);
    if (list?.status === 404) this.wrong.push(`${from.name} does not know ${name}: ${list.text}`);
    if (list?.status !== 200 || this.stale.note(from, list)) return false;
    const items = JSON.parse(list.text) as string[];
    if (items.includes(off)) this.wrong.push(`${from.name} shows ${off}, which was taken off ${name}`);
    const start = this.random.below(items.length - SEEN);
    return this.tell(to, list.token, { UserId, Placement: name, Items: items.slice(start, start + SEEN) });
  }

  /** Looks for everything that was acknowledged. @returns what is missing */
  async missingFrom(node: Node): Promise<string[]> {
    const expected = [...this.seen];
    const there = new Map<string, number>();
    for (const seen of await node.json<Seen[]>('/api/impressions'))
      there.set(keyOf(seen), (there.get(keyOf(seen)) ?? 0) + 1);
    return expected.flatMap(([key, times]) => ((there.get(key) ?? 0) < times ? [key] : []));
  }

  private async tell(to: Node, Recommendation: string, seen: Seen): Promise<boolean> {
    const { UserId, Items } = seen;
    const body = JSON.stringify([{ UserId, Recommendation, Items }]);
    const answer = await ask(to, '/api/impressions', { method: 'POST', body });
    if (answer?.status === 400) this.wrong.push(`${to.name} refuses what was seen: ${answer.text}`);
    if (answer?.status !== 200) return false;
    this.impressions++;
    this.seen.set(keyOf(seen), (this.seen.get(keyOf(seen)) ?? 0) + 1);
    return true;
  }
}

function keyOf({ UserId, Placement, Items }: Seen): string {
  return [UserId, Placement, ...Items].join();
}
