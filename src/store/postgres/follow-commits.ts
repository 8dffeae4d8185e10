import type { Commit, Point } from '../commit-effects.ts';
import { cannotFollow } from './cannot-follow-error.ts';

/** The commits behind a position, some of them where they are many, and the last one of all nodes at the same moment. */
export interface CommitsBehind {
  readonly commits: readonly Commit[];
  readonly head: Point;
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
