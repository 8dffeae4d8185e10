import type { Lesson } from '../../../src/recommend/placements/shown-lessons.ts';
import type { ShownToUser } from '../../../src/store/shown-log.ts';

/** Has something learn of these users, without a pause. */
export function learnOf(learner: { learn(): Lesson }, users: readonly ShownToUser[]): void {
  const lesson = learner.learn();
  for (const user of users) Array.from(lesson.note(user));
  lesson.end();
}
