import type { Random } from '../../src/domain/random.ts';
import type { Checks } from '../checks.ts';
import { pause } from '../furze-process.ts';
import { ask } from './ask.ts';
import type { Flood } from './flood.ts';
import { type Node, waitFor } from './node.ts';
import type { Way } from './way.ts';

/** Longest time that a write may be held up by what another node does or suffers, milliseconds. */
const HELD_MS_MAX = 1000;
/** The same as a multiple of the longest that a write takes while nothing is done, on a machine that is busy by itself. */
const HELD_TIMES_MAX = 2;
/** Longest stop or silence. */
const STILL_MS_MAX = 3000;
/** Writers that have the node in its turn most of the time. */
const WRITERS = 4;
const CLOCK_ERROR_HOURS = 26;

export interface LinkFaults {
  /** The node whose way to the database is `way`. */
  readonly node: Node;
  readonly other: Node;
  readonly way: Way;
  readonly flood: Flood;
  readonly random: Random;
  readonly checks: Checks;
  readonly tell: (what: string, seconds: number) => void;
  readonly times: number;
}

/**
 * Stops a node in the middle of its writes, and has its way to the database slow, silent, or closed in one direction: the writes of
 * another are not held up by it, and it goes on by itself.
 */
export async function breakLinks(parts: LinkFaults): Promise<void> {
  const { node, other, checks, tell, random, times } = parts;
  const stillMs = () => 100 + random.below(STILL_MS_MAX - 100);
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    nothing: () => pause(STILL_MS_MAX),
    'stopped in its writes': async () => {
      node.signal('SIGSTOP');
      await pause(stillMs());
      node.signal('SIGCONT');
    },
    'its way to PostgreSQL slow': async () => {
      parts.way.delayMsMax = 50;
      await pause(STILL_MS_MAX);
      parts.way.delayMsMax = 0;
    },
    'its way to PostgreSQL silent': () => parts.way.beSilent(stillMs()),
    'its connections closed by half at PostgreSQL': async () => parts.way.closeHalf('far'),
    'its connections closed by half at the node': async () => parts.way.closeHalf('near'),
  };
  let limitMs = HELD_MS_MAX;
  for (const [name, fault] of Object.entries(faults)) {
    const wrong = parts.flood.wrong.length;
    const writers = new Writers(node, other);
    let worstSeconds = 0;
    for (let time = 0; time < times; time++) {
      await pause(random.below(100));
      await fault();
      worstSeconds = Math.max(
        worstSeconds,
        await waitFor(
          `a write by ${node.name}`,
          async () => (await write(node, 'again', 'again')) !== undefined,
        ),
      );
    }
    const { count, heldMsMax } = await writers.stop();
    tell(`${node.name}, ${name} ${times} times: takes writes again at the latest`, worstSeconds);
    const outcome = `${count} writes, ${heldMsMax.toFixed(0)} ms at the most`;
    if (fault === faults.nothing) {
      limitMs = Math.max(HELD_MS_MAX, HELD_TIMES_MAX * heldMsMax);
      console.log(`nothing is done to ${node.name}: ${outcome} by ${other.name}`);
      continue;
    }
    checks.check(
      `${node.name}, ${name}: no write of ${other.name} is held for more than ${limitMs.toFixed(0)} ms`,
      count > 0 && heldMsMax <= limitMs && parts.flood.wrong.length === wrong,
      outcome,
    );
  }
}

/** Servers whose clocks are two days apart under the flood, one after another. */
export async function moveClocks({ node, other, flood, checks }: LinkFaults, ms: number): Promise<void> {
  const wrong = flood.wrong.length;
  const before = flood.acknowledged;
  for (const [each, hours] of [
    [node, CLOCK_ERROR_HOURS],
    [other, -CLOCK_ERROR_HOURS],
  ] as const) {
    await each.end('SIGTERM');
    await each.start({}, hours);
  }
  await pause(ms);
  for (const each of [node, other]) {
    await each.end('SIGTERM');
    await each.start();
  }
  checks.check(
    `clocks of ${node.name} and ${other.name} ${2 * CLOCK_ERROR_HOURS} hours apart: nothing wrong`,
    flood.wrong.length === wrong && flood.acknowledged > before,
    `${flood.acknowledged - before} writes`,
  );
}

/** Writes to a node all the time, and to another one by one. */
class Writers {
  private readonly running: Promise<void>[];
  private isOver = false;
  private count = 0;
  private heldMsMax = 0;

  constructor(busy: Node, timed: Node) {
    this.running = Array.from({ length: WRITERS }, (_, at) =>
      this.every(async (n) => {
        if ((await write(busy, `busy${at}`, `b${n % 100}`)) === undefined) await pause(10);
      }),
    );
    this.running.push(
      this.every(async (n) => {
        const ms = await write(timed, 'timed', `t${n % 100}`);
        if (ms === undefined) return;
        this.count++;
        this.heldMsMax = Math.max(this.heldMsMax, ms);
        await pause(5);
      }),
    );
  }

  /** @returns how many writes to the other node were answered, and the longest of them */
  async stop(): Promise<{ readonly count: number; readonly heldMsMax: number }> {
    this.isOver = true;
    await Promise.all(this.running);
    return { count: this.count, heldMsMax: this.heldMsMax };
  }

  private async every(work: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.isOver; n++) await work(n);
  }
}

/** @returns how long it took, milliseconds; undefined when it was refused */
async function write(to: Node, UserId: string, ItemId: string): Promise<number | undefined> {
  const body = JSON.stringify([{ FeedbackType: 'seen', UserId, ItemId, Timestamp: '2024-06-01' }]);
  const answer = await ask(to, '/api/feedback', { method: 'PUT', body });
  return answer?.status === 200 ? answer.answeredMs - answer.askedMs : undefined;
}
