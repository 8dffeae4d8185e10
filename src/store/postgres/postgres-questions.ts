import { setTimeout as sleep } from 'node:timers/promises';
import { FurzeError } from '../../domain/furze-error.ts';
import { repeated } from '../../platform/concurrency/repeated.ts';
import { withinTime } from '../../platform/concurrency/unless-aborted.ts';
import type { Questions } from '../cluster.ts';
import type { PostgresDsn } from '../dsn.ts';
import { Link } from './connection.ts';
import { isAway } from './database-away-error.ts';

/** Period in which a node that answers looks for questions, and one that asks for the answer, milliseconds. */
const LOOK_MS = 100;
const ASK_AGAIN_MS = 20;
/** Longest wait for an answer, and longest work on one: another question is not held up by it. */
const WAIT_MS_MAX = 10_000;
/** Questions that a node takes at once. */
const TAKEN_MAX = 4;

type Answer = readonly [answer: { readonly found?: unknown; readonly error?: string } | null];

/** Questions of nodes that lack a copy of the data, which those that have one answer: each is taken by one of them. */
export class PostgresQuestions implements Questions {
  private readonly link: Link;
  private readonly table: string;
  private readonly waitMs: number;
  private endLooks = async () => {};

  constructor(dsn: PostgresDsn, waitMs = WAIT_MS_MAX) {
    this.waitMs = waitMs;
    this.link = new Link(dsn, 'furze asking');
    this.table = `"${dsn.schema}".questions`;
  }

  async ask(question: unknown, signal?: AbortSignal): Promise<unknown> {
    const { table } = this;
    const endMs = performance.now() + this.waitMs;
    try {
      const [asked] = await this.link.rows<[number]>(
        `INSERT INTO ${table} (body) VALUES ($1::json) RETURNING id`,
        [JSON.stringify(question)],
      );
      try {
        while (performance.now() < endMs) {
          await sleep(ASK_AGAIN_MS, undefined, { signal });
          const [row] = await this.link.rows<Answer>(`SELECT answer FROM ${table} WHERE id = $1`, asked);
          const answer = row?.[0];
          if (answer?.error !== undefined) throw new FurzeError('INTERNAL', answer.error);
          if (answer != null) return answer.found;
        }
      } finally {
        this.link.run(`DELETE FROM ${table} WHERE id = $1`, asked).catch(() => {});
      }
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    throw new FurzeError('STORE_UNAVAILABLE', 'No node that has a copy of all data answers at the moment.');
  }

  answer(work: (question: unknown) => Promise<unknown>): void {
    this.endLooks = repeated(LOOK_MS, () => this.look(work));
  }

  async close(): Promise<void> {
    await this.endLooks();
    await this.link.close();
  }

  private async look(work: (question: unknown) => Promise<unknown>): Promise<void> {
    const { table, link } = this;
    const taken = await link.rows<[number, unknown]>(
      `UPDATE ${table} SET is_taken = true WHERE id IN (SELECT id FROM ${table}
         WHERE NOT is_taken AND at > now() - interval '${WAIT_MS_MAX} ms' ORDER BY id LIMIT ${TAKEN_MAX} FOR UPDATE SKIP LOCKED)
       RETURNING id, body`,
    );
    await Promise.all(
      taken.map(async ([id, body]) => {
        const answer = await withinTime(work(body), this.waitMs).then(
          (found) => ({ found }),
          (error: unknown) => ({ error: String(error) }),
        );
        const told = [id, JSON.stringify(answer)];
        await link.run(`UPDATE ${table} SET answer = $2::json WHERE id = $1`, told);
      }),
    );
    // Those that nobody waits for any more, as of nodes that were killed.
    if (taken.length > 0)
      await link.run(`DELETE FROM ${table} WHERE at < now() - interval '${6 * WAIT_MS_MAX} ms'`);
  }
}
