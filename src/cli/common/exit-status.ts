import { OperatorError } from '../../domain/operator-error.ts';

/** The exit code that a shell gives a program that was interrupted. */
export const INTERRUPTED = 130;

/** Ends a command that has said what it has to say with an exit code of its own. */
export class ExitStatus extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.name = 'ExitStatus';
    this.code = code;
  }
}

/** Arguments that contradict each other or say too little: exit code 2. */
export class UsageError extends OperatorError {}
