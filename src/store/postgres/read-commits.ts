import { type Commit, decodeParts, type RowShift } from '../commit-effects.ts';
import type { Link } from './connection.ts';
import type { CommitsBehind } from './follow-commits.ts';

/** Commits that are read at once. */
const COMMITS_MAX = 200;

type CommitRow = readonly [
  headPosition: number,
  headMark: number,
  position: number | null,
  mark: number,
  markBefore: number,
  body: Buffer,
  userBase: number,
  userShift: number,
  itemBase: number,
  itemShift: number,
];
/** The commits behind a position in their order, some of them where they are many, and the last one of all nodes: both as of one moment. */
export async function commitsAfter(
  database: Pick<Link, 'rows'>,
  schema: string,
  position: number,
): Promise<CommitsBehind> {
  const rows = await database.rows<CommitRow>(
    `SELECT h.position, h.mark, c.* FROM ${schema}.head h LEFT JOIN LATERAL (
       SELECT position, mark, mark_before, body, user_base, user_shift, item_base, item_shift
       FROM ${schema}.changes WHERE position > $1 ORDER BY position LIMIT ${COMMITS_MAX}) c ON true
     ORDER BY c.position`,
    [position],
  );
  const [headPosition, headMark] = rows[0]!;
  const commits = rows.flatMap(
    ([, , at, mark, markBefore, body, userBase, userShift, itemBase, itemShift]) => {
      if (at === null) return [];
      const shift = { userBase, userShift, itemBase, itemShift };
      return [commitOf({ position: at, mark, markBefore }, body, shift)];
    },
  );
  return { commits, head: { position: headPosition, mark: headMark } };
}

/** Decoded where somebody carries it out: among many nodes that is seldom who has made it, but who reads it behind those of others. */
export function commitOf(told: Omit<Commit, 'parts'>, body: Buffer, shift: RowShift): Commit {
  let parts: Commit['parts'] | undefined;
  return {
    ...told,
    get parts() {
      parts ??= decodeParts(body, shift);
      return parts;
    },
  };
}
