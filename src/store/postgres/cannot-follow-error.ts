import type { Point } from '../commit-effects.ts';

/** The database does not have, or no longer has, the commit that a replica needs next: only a new copy helps. */
export class CannotFollowError extends Error {
  constructor(reason: string) {
    super(`${reason}; a restart copies everything anew`);
    this.name = 'CannotFollowError';
  }
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
