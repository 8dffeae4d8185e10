import type { Random } from '../../src/domain/random.ts';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { CommitLog, KEPT_HOURS } from '../../src/store/postgres/commit-log.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { NO_RULES } from '../../src/store/postgres/copy-all.ts';
import type { Checks } from '../checks.ts';
import { pause } from '../furze-process.ts';
import type { Flood } from './flood.ts';
import { type Node, waitFor } from './node.ts';

/** How long a node stands still, milliseconds. */
const STILL_MS = 1500;
/** The share of commits that are said to be old: any, since they are not in the order of their turns. */
const OLD_SHARE = 0.8;

/** Removes commits as a day's end does, here those of now: whoever is up has most of them already. */
export async function prune(dataStore: string, random: Random): Promise<void> {
  const dsn = parseDsn(dataStore) as PostgresDsn;
  const connection = await Connection.open(dsn, 'proof');
  const log = new CommitLog(dsn, NO_RULES, 'disk');
  try {
    await connection.rows('SELECT setseed($1)', [random.below(1000) / 1000]);
    await connection.run(
      `UPDATE "${dsn.schema}".changes SET at = now() - interval '${KEPT_HOURS + 1} hours' WHERE random() < ${OLD_SHARE}`,
    );
    await log.forgetOld();
  } finally {
    await log.close();
    await connection.close();
  }
}

export interface PruneFaults {
  readonly dataStore: string;
  /** One that does not lead, and that nobody asks meanwhile. */
  readonly node: Node;
  readonly other: Node;
  readonly flood: Flood;
  readonly random: Random;
  readonly checks: Checks;
  readonly tell: (what: string, seconds: number) => void;
  readonly times: number;
}

/**
 * Has a node lag by standing still, or by being away, under a flood, while commits that it lacks are removed: it goes on, or it says
 * that it cannot and a start copies everything anew, from a database whose commits are removed meanwhile. In any case it has all.
 */
export async function pruneUnderLag(parts: PruneFaults): Promise<void> {
  const { dataStore, node, other, flood, random, checks, tell, times } = parts;
  let copies = 0;
  for (let time = 0; time < times; time++) {
    if (random.below(2) === 0) {
      node.signal('SIGSTOP');
      await pause(STILL_MS);
      await prune(dataStore, random);
      node.signal('SIGCONT');
    } else {
      await node.end('SIGKILL');
      await pause(STILL_MS);
      const started = node.start();
      await prune(dataStore, random);
      await started;
    }
    let said = node.output.length;
    const seconds = await waitFor('a node that has everything', async () => {
      if (node.output.slice(said).includes('restart the service')) {
        copies++;
        await node.end('SIGTERM');
        await node.start();
        said = node.output.length;
      }
      if ((await fetch(`${node.url}/api/health/ready`)).status !== 200) return false;
      const [own, all] = await Promise.all([node.summary(), other.summary()]);
      return own.Users >= all.Users && own.Feedback >= all.Feedback;
    });
    tell(`commits removed while ${node.name} lagged: it has all`, seconds);
  }
  const missing = await flood.missingFrom(node);
  checks.check(
    `commits were removed ${times} times while a node lagged, which was started again ${copies} times: it has all`,
    missing.length === 0,
    missing.slice(0, 3).join(),
  );
}
