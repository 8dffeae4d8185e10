import { OperatorError } from '../../domain/operator-error.ts';
import type { Wishes } from '../../exchange/import-plan.ts';
import type { Preset } from '../../exchange/known-data-sets.ts';
import type { PlannedFile } from './files-to-import.ts';

/** Settings of the command line; anything else is asked. */
export interface Given {
  readonly paths: readonly string[];
  readonly preset: Preset;
  /** Meanings of columns; any other is guessed. */
  readonly wishes?: Wishes | undefined;
  readonly positiveTypes?: readonly string[] | undefined;
  readonly port?: number | undefined;
  readonly apiKey?: string | undefined;
  readonly evaluates?: boolean | undefined;
  /** Rows that cannot be stored are left out without a question. */
  readonly skipsBad?: boolean | undefined;
  /** Values of rows of one user, item and type are added up. */
  readonly sumsValues?: boolean | undefined;
  /** Whether every event of the positive types counts, or the first alone; absent where that is asked. */
  readonly repeats?: 'count' | 'first' | undefined;
  /** Proposals are taken without a question. */
  readonly takesProposals: boolean;
}

/** An answer is not given, and nobody can be asked. */
export class AnswerMissing extends Error {}

/** Rows cannot be stored, and are not to be left out. */
export class BadRows extends OperatorError {
  /** The files as they were understood. */
  readonly files: readonly PlannedFile[];

  constructor(message: string, files: readonly PlannedFile[]) {
    super(message);
    this.files = files;
  }
}

/** Where `furze init` writes, and what the files come from. */
export interface Places {
  readonly config: string;
  readonly data: string;
  readonly from: Preset;
}

/** Facts about a set-up beside the answers. */
export interface SetUpOptions extends Places {
  /** One JSON object on standard output and nothing else. */
  readonly json: boolean;
  /** Longest wait for another process that has the folders, seconds. */
  readonly lockWait: number;
}
