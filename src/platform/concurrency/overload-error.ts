import { FurzeError } from '../../domain/furze-error.ts';

/** Everything for which a request is refused because there is too much to do: what the caller reads. */
const DETAILS = {
  bodies: 'The requests under way take all the memory that there is for bodies.',
  answers: 'The answers under way take all the memory that there is for them.',
  writes: 'Too many writes are waiting; try again later.',
  questions: 'Too many questions wait for a worker; try again later.',
  neighbors: 'Too many searches for neighbors are waiting; try again later.',
  lists: 'Too many lists are waiting to be made; try again later.',
  explanations: 'Too many explanations are waiting; try again later.',
  searches: 'Too many searches are waiting.',
  previews: 'Too many previews are waiting; try again later.',
  start: 'Too many requests wait for the service to start; try again later.',
  models: 'Too many models are being put; try again later.',
  streams: 'Too many pages show what comes; close one, or ask for /api/admin/activity/feedback.',
  backup: 'A backup is being made; try again later.',
  pipelined: 'Too many requests came at once; send fewer ahead of their answers.',
  abandoned: 'The caller has hung up.',
} as const;

/** Name of what there is too much of. */
export type Overload = keyof typeof DETAILS;

/** The refusal of a request that the service has no room for: a 503 with `Retry-After`. Who refuses is where things wait. */
export function overloaded(by: Overload): FurzeError {
  return new FurzeError('OVERLOADED', DETAILS[by]);
}
