import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SharedCourses } from '../../../src/background/lists/shared-courses.ts';
import { ActiveUsers } from '../../../src/recommend/lists/active-users.ts';
import type { PassCourse } from '../../../src/store/cluster.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { Connection, Link } from '../../../src/store/postgres/connection.ts';
import { PassBlocks } from '../../../src/store/postgres/pass-blocks.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

const BLOCK = 256;
/** Forty blocks and a rest. */
const USERS = 40 * BLOCK + 100;
const KIND = { generation: 7, settings: '{"popular":true}' };
const NOT_ABORTED = new AbortController().signal;

let dsn: PostgresDsn;
let connection: Connection;
let links: Link[];

beforeEach(async ({ skip }) => {
  if (!HAS_POSTGRES) skip();
  dsn = newDsn();
  connection = await Connection.open(dsn, 'test');
  await openSchema(connection, dsn.schema);
  await lead(1);
  links = [];
});

afterEach(async () => {
  if (!HAS_POSTGRES) return;
  for (const link of links) await link.close();
  await connection.close();
});

const lead = (epoch: number) => connection.run(`UPDATE "${dsn.schema}".generation SET epoch = $1`, [epoch]);
const everybody = () => new ActiveUsers(0, () => 0).order(USERS);
const blocksLeft = async () => {
  const [row] = await connection.rows<[number]>(`SELECT count(*) FROM "${dsn.schema}".pass_blocks`);
  return row![0];
};

function blocksAt(node: string, leaseMs?: number, position = () => 0): PassBlocks {
  const link = new Link(dsn, 'test node');
  links.push(link);
  return new PassBlocks({
    ...{ link, schema: `"${dsn.schema}"`, node, position },
    isGivenUp: () => false,
    ...(leaseMs !== undefined && { leaseMs }),
  });
}

/** A node's passes. @param epoch under which it leads; undefined for one that does not */
function coursesAt(node: string, epoch?: number, leaseMs?: number): SharedCourses {
  return new SharedCourses({ epoch, published: KIND.generation, passes: blocksAt(node, leaseMs) });
}

/** Does blocks as long as there are any. @returns the users of each */
async function work(course: PassCourse, onTold: (done: number) => void = () => {}): Promise<number[][]> {
  const blocks: number[][] = [];
  for (;;) {
    const userRows = await course.take(NOT_ABORTED);
    if (userRows === undefined) break;
    await delay(2);
    await course.end(userRows);
    onTold(course.done);
    blocks.push([...userRows]);
  }
  await course.leave();
  return blocks;
}

const open = (courses: SharedCourses, kind = KIND) => courses.open(kind, everybody());
const sorted = (blocks: number[][]) => blocks.flat().sort((a, b) => a - b);
const ALL = Array.from({ length: USERS }, (_, row) => row);

describe('a pass whose blocks nodes share', () => {
  test('is divided, each user once; progress is that of all, and nothing is left of it', async () => {
    const [first, second] = [coursesAt('a', 1), coursesAt('b')];
    expect(await second.missingFrom(KIND)).toBeUndefined();
    expect(await open(second)).toBeUndefined();
    expect(await first.missingFrom(KIND)).toBe('all');
    const begun = (await open(first))!;
    expect(await second.missingFrom(KIND)).toBe('all');
    const joined = (await open(second))!;
    expect([begun.total, joined.total, joined.done]).toEqual([USERS, USERS, 0]);
    const told: number[] = [];
    // How many blocks each does goes by how fast it is; neither waits for the other.
    const both = await Promise.all([begun, joined].map((course) => course.take(NOT_ABORTED)));
    await Promise.all([begun, joined].map((course, at) => course.end(both[at]!)));
    const rest = await Promise.all([begun, joined].map((course) => work(course, (done) => told.push(done))));
    expect(sorted([...both, ...rest.flat()].map((block) => [...block!]))).toEqual(ALL);
    expect(Math.max(...told)).toBe(USERS);
    for (const course of [begun, joined]) expect([course.done, course.isOver]).toEqual([USERS, true]);
    for (const courses of [first, second]) expect(await courses.missingFrom(KIND)).toBeUndefined();
    expect(await blocksLeft()).toBe(0);
  });

  test('has what a lost node had taken done by another, which counts once', async () => {
    const lost = (await open(coursesAt('lost', 1, 300)))!;
    const userRows = (await lost.take(NOT_ABORTED))!;
    // It says nothing any more, and wakes at the end.
    clearInterval((lost as unknown as { timer: NodeJS.Timeout }).timer);
    const course = (await open(coursesAt('b')))!;
    expect(sorted(await work(course))).toEqual(ALL);
    expect([course.done, course.isOver]).toEqual([USERS, true]);
    await lost.end(userRows);
    expect(await lost.take(NOT_ABORTED)).toBeUndefined();
    expect([lost.done, lost.isOver]).toEqual([USERS, true]);
  });

  test('leaves a block to a node that is slow and says so; one that leaves gives its blocks back', async () => {
    const slow = (await open(coursesAt('slow', 1, 60_000)))!;
    await slow.take(NOT_ABORTED);
    await slow.leave();
    const again = (await open(coursesAt('slow', undefined, 300)))!;
    const userRows = (await again.take(NOT_ABORTED))!;
    expect(userRows[0]).toBe(0);
    const until = async () =>
      (await connection.rows(`SELECT until FROM "${dsn.schema}".pass_blocks WHERE node = 'slow'`)).toString();
    const before = await until();
    await expect.poll(until).not.toBe(before);
    await again.leave();
  });

  test('is ended by the next one: nothing of the two is mixed', async () => {
    const blocks = blocksAt('a');
    const [first, next] = [
      { epoch: 1, published: 7, passes: blocks },
      { epoch: 1, published: 8, passes: blocks },
    ].map((cluster) => new SharedCourses(cluster));
    const old = (await open(first!))!;
    const userRows = (await old.take(NOT_ABORTED))!;
    const kind = { ...KIND, generation: 8 };
    const course = (await open(next!, kind))!;
    await old.end(userRows);
    expect(await old.take(NOT_ABORTED)).toBeUndefined();
    expect([old.isOver, old.isMore]).toEqual([false, false]);
    expect(await open(coursesAt('b'))).toBeUndefined();
    expect(await first!.missingFrom(kind)).toBe('all');
    // A leader that serves an older generation than is published does not end the pass.
    expect(await open(next!)).toBeUndefined();
    expect(sorted(await work(course))).toEqual(ALL);
    expect([course.done, await blocksLeft()]).toEqual([USERS, 0]);
  });

  test('goes on under another leader, and is begun anew where the last one was lost while it divided', async () => {
    const [before, after] = [coursesAt('a', 1), coursesAt('b', 2)];
    const old = (await open(before))!;
    const taken = (await old.take(NOT_ABORTED))!;
    await lead(2);
    const course = (await open(after))!;
    const rest = work(course);
    await old.end(taken);
    expect(sorted([[...taken], ...(await rest)])).toEqual(ALL);
    expect(await after.missingFrom(KIND)).toBeUndefined();
    // A leader that is none any more begins nothing.
    const kind = { ...KIND, settings: '{}' };
    expect(await open(before, kind)).toBeUndefined();
    await connection.run(`UPDATE "${dsn.schema}".generation SET pass = pass + 1, pass_generation = 0`);
    expect(await open(coursesAt('c'))).toBeUndefined();
    expect(sorted(await work((await open(after))!))).toEqual(ALL);
  });

  test('waits for a copy of the data that lacks what the leader had', async () => {
    await blocksAt('a', undefined, () => 12).begin(KIND, [Uint32Array.of(4, 2)], 1);
    let position = 11;
    let found = false;
    const finding = blocksAt('b', undefined, () => position)
      .find(KIND)
      .then((pass) => {
        found = true;
        return pass!;
      });
    await delay(200);
    expect(found).toBe(false);
    position = 12;
    expect(await (await finding).take(NOT_ABORTED)).toEqual(Uint32Array.of(4, 2));
  });

  test('over nobody is over', async () => {
    const nobody = new ActiveUsers(0, () => 0).order(0);
    const course = (await coursesAt('a', 1).open(KIND, nobody))!;
    expect([course.isOver, await course.take(NOT_ABORTED)]).toEqual([true, undefined]);
  });
});
