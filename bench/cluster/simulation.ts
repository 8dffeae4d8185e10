import { createRandom } from '../../src/domain/random.ts';

/*
 * A cluster on paper: what a site needs of each part, minute by minute over a year, from what one request, record and byte were
 * measured to cost. `npm run bench:simulate` prints it.
 */

/**
 * Measured by `npm run bench:cluster` on one machine with PostgreSQL 15 and Redis 7: rates a processor second, bytes. Sizes of
 * PostgreSQL are a sum over what is there, for tables that were filled in no order.
 */
export const SLOPES = {
  postgres: {
    feedbackPerSecond: 50_000,
    questionsPerSecond: 260_000,
    emptyBytes: 1_100_000,
    entityBytes: 160,
    feedbackBytes: 87,
    changesBytes: 24,
  },
  server: {
    hitsPerSecond: 30_000,
    copiedPerSecond: 1_000_000,
    feedbackPerSecond: 30_000,
    appliedPerSecond: 80_000,
  },
  redis: { listBytes: 920 },
  copy: { feedbackBytes: 60, entityBytes: 130 },
  /** Of a server without a copy, which asks for a user's feedback each time (processor time of both sides, seconds a hit). */
  withoutCopy: { server: 56e-6, postgres: 29e-6 },
} as const;

/** Load of a site. */
export interface Site {
  readonly name: string;
  readonly users: number;
  readonly items: number;
  readonly feedback: number;
  /** Share of the users who have a list in Redis. */
  readonly activeShare: number;
  /** Requests for lists a second, on the mean of a day. */
  readonly reads: number;
  /** Feedback a second, on the mean of a day. */
  readonly writes: number;
  /** Growth of users and feedback in a year, as a share. */
  readonly growth: number;
}

/** Machines that it runs on. */
export interface Machines {
  readonly servers: number;
  /** Processors of each server that answer. */
  readonly serverCores: number;
  /** Databases that the users are divided among; each has its own order of commits. */
  readonly databases: number;
  readonly databaseCores: number;
  /** True when each server has a replica of everything. */
  readonly hasCopies: boolean;
}

/** Findings of a run. */
export interface Finding {
  readonly postgresBytes: number;
  readonly copyBytes: number;
  readonly redisBytes: number;
  /** Time until a new server is ready, seconds: one processor of it copies everything. */
  readonly firstCopySeconds: number;
  /** Shares of what there is at the highest minute. */
  readonly serverShare: number;
  readonly databaseShare: number;
  readonly orderShare: number;
  /** Minutes of the year in which requests asked for more than there was, and how many servers were lost. */
  readonly shortMinutes: number;
  readonly losses: number;
  /** Seconds of the year in which no feedback was taken, because a database failed over. */
  readonly refusedSeconds: number;
}

/** Highest minute of a day over its mean, and the share of a processor that is planned with. */
const PEAK = 2;
const PLANNED = 0.7;
const MINUTES_A_DAY = 1440;
const DAYS = 365;
/** A server is lost once in so many days, a database fails over, and that takes so many seconds. */
const SERVER_LOST_DAYS = 60;
const DATABASE_LOST_DAYS = 180;
const FAILOVER_SECONDS = 30;

/** Bytes of PostgreSQL, with the changes of a day. */
export function postgresBytes({
  users,
  items,
  feedback,
}: Pick<Site, 'users' | 'items' | 'feedback'>): number {
  const { emptyBytes, entityBytes, feedbackBytes } = SLOPES.postgres;
  return emptyBytes + (users + items) * entityBytes + feedback * feedbackBytes;
}

/** Bytes of Redis for so many lists of 100. */
export function redisBytes(lists: number): number {
  return lists * SLOPES.redis.listBytes;
}

/** Processor seconds of a server that makes a copy. */
export function copySeconds({ users, items, feedback }: Pick<Site, 'users' | 'items' | 'feedback'>): number {
  return (users + items + feedback) / SLOPES.server.copiedPerSecond;
}

/** Runs a site for a year from a seed, after `years` of growth. */
export function simulate(site: Site, machines: Machines, years: number, seed: number): Finding {
  const grown = grow(site, years);
  const random = createRandom(seed);
  const capacity = capacityOf(grown, machines);
  const firstCopySeconds = machines.hasCopies ? copySeconds(grown) : 0;
  const repairMinutes = Math.ceil((firstCopySeconds + 60) / 60);
  const backAt: number[] = [];
  let shortMinutes = 0;
  let losses = 0;
  let refusedSeconds = 0;
  let serverShare = 0;
  for (let minute = 0; minute < DAYS * MINUTES_A_DAY; minute++) {
    const turn = Math.cos((2 * Math.PI * minute) / MINUTES_A_DAY);
    const load = 1 + (PEAK - 1) * turn;
    for (let server = 0; server < machines.servers; server++) {
      if ((backAt[server] ?? 0) > minute || random.float() >= 1 / (SERVER_LOST_DAYS * MINUTES_A_DAY))
        continue;
      backAt[server] = minute + repairMinutes;
      losses++;
    }
    const isLost = random.float() < machines.databases / (DATABASE_LOST_DAYS * MINUTES_A_DAY);
    if (isLost) refusedSeconds += FAILOVER_SECONDS / machines.databases;
    const away = Array.from(backAt, (at) => at ?? 0).filter((at) => at > minute).length;
    const share =
      (load * capacity.serverSeconds) / Math.max(1e-9, (machines.servers - away) * machines.serverCores);
    serverShare = Math.max(serverShare, share);
    if (share > PLANNED) shortMinutes++;
  }
  return {
    postgresBytes: postgresBytes(grown) + grown.writes * 86_400 * SLOPES.postgres.changesBytes,
    copyBytes: machines.hasCopies ? copyBytes(grown) : 0,
    redisBytes: redisBytes(grown.users * grown.activeShare),
    firstCopySeconds,
    serverShare,
    databaseShare: (PEAK * capacity.databaseSeconds) / (machines.databases * machines.databaseCores),
    orderShare: (PEAK * grown.writes) / machines.databases / SLOPES.postgres.feedbackPerSecond,
    shortMinutes,
    losses,
    refusedSeconds,
  };
}

function grow(site: Site, years: number): Site {
  const by = (1 + site.growth) ** years;
  const { users, feedback, reads, writes } = site;
  return { ...site, users: users * by, feedback: feedback * by, reads: reads * by, writes: writes * by };
}

function copyBytes({ users, items, feedback }: Site): number {
  return (users + items) * SLOPES.copy.entityBytes + feedback * SLOPES.copy.feedbackBytes;
}

/** Processor seconds a second on the mean: of all servers, and of all databases. */
function capacityOf({ reads, writes }: Site, { servers, hasCopies }: Machines) {
  const { server, postgres, withoutCopy } = SLOPES;
  const hits = reads / server.hitsPerSecond + (hasCopies ? 0 : reads * withoutCopy.server);
  // Each write is taken in by one server, and carried out in the copy of each.
  const taken = writes / server.feedbackPerSecond;
  const applied = hasCopies ? (servers * writes) / server.appliedPerSecond : 0;
  const asked = reads / postgres.questionsPerSecond + (hasCopies ? 0 : reads * withoutCopy.postgres);
  return {
    serverSeconds: hits + taken + applied,
    databaseSeconds: writes / postgres.feedbackPerSecond + asked,
  };
}
