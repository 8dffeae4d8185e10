import { FurzeError, isEngineError, messageOf } from '../../../domain/furze-error.ts';
import { type CheckedCommand, checkCommand } from '../../check-command.ts';
import type { WriteResult } from '../../data-store.ts';
import type { WriteRules } from '../../write-options.ts';
import { packRecords } from '../format/packed-records.ts';
import type { Write, WriteAnswer } from '../tables/writer-messages.ts';

/** A write whose input is checked. */
export interface CheckedWrite {
  readonly ticket: number;
  readonly command: CheckedCommand;
}

/** Checks writes without touching the store. @returns those that pass, and the answers to the others */
export function checkWrites(
  writes: readonly Write[],
  rules: WriteRules,
): { checked: CheckedWrite[]; answers: WriteAnswer[] } {
  const checked: CheckedWrite[] = [];
  const answers: WriteAnswer[] = [];
  for (const { ticket, command, nowMs } of writes) {
    try {
      checked.push({ ticket, command: checkCommand(command, rules, nowMs) });
    } catch (error) {
      answers.push(refusal({ ticket, command }, error));
    }
  }
  return { checked, answers };
}

/** The answer to a write that was carried out, or refused. */
export function answerOf(ticket: number, result: WriteResult | FurzeError): WriteAnswer {
  if (result instanceof FurzeError)
    return { ticket, result: undefined, error: result.toPlain(), trace: undefined };
  const { credited, ...others } = result;
  const plain = credited === undefined ? others : { ...others, credited: packRecords(Array.from(credited)) };
  return { ticket, result: plain, error: undefined, trace: undefined };
}

/**
 * The answer to a write that failed. A store that cannot write is told from a fault of this program, which names itself; the
 * trace is for the log alone.
 */
export function refusal(
  { ticket, command }: { readonly ticket: number; readonly command: Pick<CheckedCommand, 'kind'> },
  error: unknown,
): WriteAnswer {
  if (error instanceof FurzeError) return answerOf(ticket, error);
  const plain = isEngineError(error)
    ? new FurzeError(
        'STORE_UNAVAILABLE',
        `The store could not carry out the write: ${messageOf(error).split(':')[0]}.`,
      )
    : new FurzeError(
        'INTERNAL',
        `A fault of this program (${nameOf(error)}) met the write ${command.kind}; the log has its trace.`,
      );
  return { ...answerOf(ticket, plain), trace: traceOf(error) };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

export function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
