import type { Commit, Effects, Point } from '../commit-effects.ts';
import { cannotFollow } from './cannot-follow-error.ts';

/** The commits behind a position, some of them where they are many, and the last one of all nodes at the same moment. */
export interface CommitsBehind {
  readonly commits: readonly Commit[];
  readonly head: Point;
}

/** Records from which on no further commit joins a transaction: they bound the time that the serving thread takes for it. */
const RECORDS_MAX = 10_000;

/**
 * The next of some commits that are in order, as many as a replica carries out in one transaction.
 * @returns none when the replica shows them all
 * @throws CannotFollowError when they are not those that follow on its point
 */
export function nextCommits(point: Point, commits: readonly Commit[]): readonly Commit[] {
  const next: Commit[] = [];
  let last = point;
  let records = 0;
  for (const commit of commits) {
    if (commit.position <= point.position) continue;
    if (!follows(last, commit)) throw cannotFollow(last, commit.position, commit);
    if (records >= RECORDS_MAX) break;
    next.push(commit);
    records += recordsOf(commit);
    last = commit;
  }
  return next;
}

function recordsOf({ parts }: Commit): number {
  const ofPart = ({ deletedUserIds, deletedItemIds, users, items, feedback, vectors = [] }: Effects) =>
    [deletedUserIds, deletedItemIds, users, items, feedback, vectors].reduce(
      (sum, { length }) => sum + length,
      0,
    );
  return parts.reduce((sum, part) => sum + ofPart(part), 0);
}

/** True for the one commit that may be carried out on what a replica shows at a point. */
export function follows(point: Point, commit: Commit): boolean {
  return commit.position === point.position + 1 && commit.markBefore === point.mark;
}

/**
 * Checks what the database answers to a replica that asks for the commits behind its point.
 * @returns true when there are none because the replica shows the last one
 * @throws CannotFollowError when there are none and the last one is not the one that it shows
 */
export function isAtHead(point: Point, { commits, head }: CommitsBehind): boolean {
  if (commits.length > 0) return false;
  if (head.position !== point.position || head.mark !== point.mark)
    throw cannotFollow(point, head.position, head);
  return true;
}
