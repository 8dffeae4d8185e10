import { OperatorError } from '../domain/operator-error.ts';

/** A file does not tell by itself how it is to be read; an answer of the operator's would. */
export class OpenReading extends OperatorError {
  /** The open part of it. */
  readonly open: 'date-order' | 'delimiter' | 'encoding' | 'user' | 'item' | 'time';
  /** The finding, without advice. */
  readonly finding: string;
  /** The likely answer, where there is one. */
  readonly guess: string;
  /** The same in words. */
  readonly guessInWords: string;

  constructor(open: OpenReading['open'], finding: string, advice: string, guess = '', guessInWords = guess) {
    super(`${finding}${advice}`);
    this.open = open;
    this.finding = finding;
    this.guess = guess;
    this.guessInWords = guessInWords;
  }

  /** The same where one of these columns is asked for. */
  of(columns: readonly string[], likely = ''): OpenReading {
    const advice = this.message.slice(this.finding.length);
    return new OpenReading(this.open, this.finding, advice, columns.join(', '), likely);
  }
}
