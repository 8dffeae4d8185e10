import type { Commit, Point } from '../commit-effects.ts';

/** The commits behind a position, some of them where they are many, and the last one of all nodes at the same moment. */
export interface CommitsBehind {
  readonly commits: readonly Commit[];
  readonly head: Point;
}

/** The database does not have, or no longer has, the commit that a replica needs next: only a new copy helps. */
export class CannotFollowError extends Error {
  constructor(reason: string) {
    super(`${reason}; a restart copies everything anew`);
    this.name = 'CannotFollowError';
  }
}

/** True for the one commit that may be carried out on what a replica shows at a point. */
export function follows(point: Point, commit: Commit): boolean {
  return commit.position === point.position + 1 && commit.markBefore === point.mark;
}

/**
 * Checks what the database answers to a replica that asks for the commits behind its point.
 * @returns true when there are none because the replica shows the last one
 * @throws CannotFollowError when they are not those that follow on the point
 */
export function isAtHead(point: Point, { commits, head }: CommitsBehind): boolean {
  const [next] = commits;
  if (next !== undefined) {
    if (!follows(point, next)) throw cannotFollow(point, next.position, head);
    return false;
  }
  if (head.position !== point.position || head.mark !== point.mark)
    throw cannotFollow(point, head.position, head);
  return true;
}

/** @param position that of the first commit that there is */
export function cannotFollow(point: Point, position: number, head: Point): CannotFollowError {
  const hasLost = position <= point.position + 1 || head.position <= point.position;
  return new CannotFollowError(
    hasLost
      ? 'the database has lost commits that this replica shows (a crash without synchronous commits, or a failover)'
      : `this replica shows the data up to commit ${point.position}, and the commits up to ${position} are no longer kept`,
  );
}
