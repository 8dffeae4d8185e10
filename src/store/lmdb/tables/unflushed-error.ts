import { messageOf } from '../../../domain/furze-error.ts';
import { OperatorError } from '../../../domain/operator-error.ts';

/**
 * The disk failed to keep a commit that all see. The kernel may have dropped what it could not write and call the next flush
 * a success (Rebello et al., "Can Applications Recover from fsync Failures?", 2020), so nothing may be written after it.
 */
export class UnflushedError extends OperatorError {
  override readonly name = 'UnflushedError';
  readonly isFinal = true;

  constructor(path: string, cause: unknown) {
    super(`the disk of ${path} failed to keep what was written to it: ${messageOf(cause)}; check it first`);
  }
}
