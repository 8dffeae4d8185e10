import { FurzeError } from '../../src/domain/furze-error.ts';

/** The lines of a text with their numbers from 1; blank lines are passed over, `\r\n` is read as `\n`. */
export function* lines(text: string): Generator<{ number: number; line: string }> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    number++;
    const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
    start = end + 1;
    if (line.trim() !== '') yield { number, line };
  }
}

/**
 * A field that must be an integer from 0 to 2^32 - 2.
 * @throws FurzeError BAD_REQUEST that names the line
 */
export function rowNumber(field: string | undefined, lineNumber: number): number {
  const value = field === undefined || field === '' ? Number.NaN : Number(field);
  if (!(Number.isInteger(value) && value >= 0 && value < 0xffffffff))
    refuseLine(lineNumber, `"${field ?? ''}" is no row number`);
  return value;
}

/** A field that must be a finite number. @throws FurzeError BAD_REQUEST that names the line */
export function finiteNumber(field: string | undefined, lineNumber: number): number {
  const value = field === undefined || field.trim() === '' ? Number.NaN : Number(field);
  if (!Number.isFinite(value)) refuseLine(lineNumber, `"${field ?? ''}" is no number`);
  return value;
}

/** @throws FurzeError BAD_REQUEST */
export function refuseLine(lineNumber: number, reason: string): never {
  throw new FurzeError('BAD_REQUEST', `line ${lineNumber}: ${reason}`);
}
