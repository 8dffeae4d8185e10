import type { Random } from '../../src/domain/random.ts';
import { ask } from './ask.ts';
import type { Node } from './node.ts';
import type { StaleMarks } from './stale-marks.ts';

/** Groups of items; all of a group have one label, so a list tells which like it was made from. */
export const GROUPS = 3;
/** Items of all groups; an item's number tells its group. */
export const ITEMS = 60;
const USERS = 6;
const SHOWN = 3;

/**
 * Users who like one item alone, and another one after each round: what they are recommended is of that item's group, or it is
 * of a list that is behind.
 */
export class Tastes {
  private readonly random: Random;
  private readonly stale: StaleMarks;
  private readonly users = Array.from({ length: USERS }, (_, at) => ({ id: `t${at}`, liked: -1 }));
  private named = USERS;
  changes = 0;
  readonly wrong: string[] = [];

  constructor(random: Random, stale: StaleMarks) {
    this.random = random;
    this.stale = stale;
  }

  /** Changes a taste by the one node, and asks both for a list. @returns whether all was answered */
  async round(to: Node, from: Node): Promise<boolean> {
    const user = this.users[this.random.below(USERS)]!;
    const item = (user.liked + 1 + this.random.below(ITEMS - 1)) % ITEMS;
    if (!(await this.like(to, user, item))) {
      // What is stored of this one nobody knows.
      user.id = `t${this.named++}`;
      user.liked = -1;
      return false;
    }
    user.liked = item;
    this.changes++;
    const answers = await Promise.all([from, to].map((node) => this.read(node, user.id, item)));
    return answers.every((isRight) => isRight);
  }

  private async like(to: Node, { id, liked }: { id: string; liked: number }, item: number): Promise<boolean> {
    if (liked >= 0) {
      const gone = await ask(to, `/api/feedback/like/${id}/i${liked}`, { method: 'DELETE' });
      if (gone?.status !== 200) return false;
    }
    const like = { FeedbackType: 'like', UserId: id, ItemId: `i${item}`, Timestamp: '2024-06-02' };
    const put = await ask(to, '/api/feedback', { method: 'PUT', body: JSON.stringify([like]) });
    return put?.status === 200;
  }

  private async read(from: Node, userId: string, item: number): Promise<boolean> {
    const answer = await ask(from, `/api/recommend/${userId}?n=${SHOWN}`);
    if (answer?.status !== 200 || this.stale.note(from, answer)) return false;
    const groups = (JSON.parse(answer.text) as string[]).map((itemId) => Number(itemId.slice(1)) % GROUPS);
    if (groups.length !== SHOWN || groups.some((group) => group !== item % GROUPS))
      this.wrong.push(`${from.name} recommends ${answer.text} to ${userId}, who likes i${item} alone`);
    return true;
  }
}
