import { overloaded } from '../../domain/concurrency/overload.ts';
import { FurzeError } from '../../domain/errors.ts';
import { SEVERAL_LENGTHS } from '../engine/engine.ts';
import type { ByteBudget } from './byte-budget.ts';
import { BYTES_PER_SECOND_MIN, type Pace, type PaceWatch } from './transfer-rate.ts';

/** Memory that a body takes when its first chunk comes, unless it is known to be smaller. */
const FIRST_BYTES = 16 * 1024;

const NOTHING = new Uint8Array(0);

/** What bodies are read with; one for all requests. */
export interface BodyRules {
  /** Bytes of one body. */
  readonly bytesMax: number;
  /** Memory of all bodies between their first byte and the answer to their request. */
  readonly budget: ByteBudget;
  readonly paces: PaceWatch;
}

/** What became of a body: the bytes, or why they were refused. */
export type BodyOutcome = Uint8Array<ArrayBuffer> | FurzeError;

/**
 * Gathers a body as it streams. Its memory grows with what arrives and not with what Content-Length says; it gives up
 * as soon as the body is over a limit or too slow, and the rest then flows by unread.
 */
export class BodyReader {
  private readonly rules: BodyRules;
  private readonly lengthBytes: number;
  private readonly done: (outcome: BodyOutcome) => void;
  private readonly pace: Pace;
  private buffer: Uint8Array<ArrayBuffer> = NOTHING;
  private size = 0;
  private heldBytes = 0;
  private isReading = true;

  /**
   * @param lengthBytes what Content-Length says, 0 when it says nothing
   * @param done called once, unless `end` comes first
   */
  constructor(rules: BodyRules, lengthBytes: number, done: (outcome: BodyOutcome) => void) {
    this.rules = rules;
    this.lengthBytes = lengthBytes;
    this.done = done;
    this.pace = rules.paces.start(() => this.finish(tooSlow()));
  }

  /** Takes a chunk, which need not live beyond the call. */
  take(chunk: Uint8Array, isLast: boolean): void {
    if (!this.isReading) return;
    const end = this.size + chunk.byteLength;
    if (end > this.rules.bytesMax) {
      this.finish(tooLarge(this.rules.bytesMax));
    } else if (end > this.buffer.length && !this.grow(end, isLast)) {
      this.finish(overloaded('bodies'));
    } else {
      this.buffer.set(chunk, this.size);
      this.size = end;
      this.pace.moved(chunk.byteLength);
      if (isLast) this.finish(end === this.buffer.length ? this.buffer : this.buffer.subarray(0, end));
    }
  }

  /** Gives the memory back, once the request is answered or gone. */
  end(): void {
    this.stop();
    this.rules.budget.give(this.heldBytes);
    this.heldBytes = 0;
    this.buffer = NOTHING;
  }

  private grow(atLeast: number, isLast: boolean): boolean {
    const likely = isLast ? atLeast : Math.max(FIRST_BYTES, this.buffer.length * 2, atLeast);
    // No more than what the body is said to be, should that suffice.
    const bytes = this.lengthBytes >= atLeast ? Math.min(likely, this.lengthBytes) : likely;
    if (!this.rules.budget.take(bytes - this.heldBytes)) return false;
    this.heldBytes = bytes;
    const larger = new Uint8Array(bytes);
    larger.set(this.buffer.subarray(0, this.size));
    this.buffer = larger;
    return true;
  }

  private stop(): void {
    this.isReading = false;
    this.pace.end();
  }

  private finish(outcome: BodyOutcome): void {
    this.stop();
    if (outcome instanceof FurzeError) this.end();
    this.done(outcome);
  }
}

/**
 * Why a body is refused before any of it has come.
 * @param lengthBytes what Content-Length says, 0 when it says nothing, `SEVERAL_LENGTHS` when it says so more than once
 */
export function refusalByLength(lengthBytes: number, bytesMax: number): FurzeError | undefined {
  if (lengthBytes === SEVERAL_LENGTHS)
    return new FurzeError('BAD_REQUEST', 'The request has several Content-Length headers.');
  return lengthBytes > bytesMax ? tooLarge(bytesMax) : undefined;
}

function tooLarge(bytesMax: number): FurzeError {
  return new FurzeError('BODY_TOO_LARGE', `A body has at most ${bytesMax} bytes.`);
}

function tooSlow(): FurzeError {
  const detail = `The body came slower than ${BYTES_PER_SECOND_MIN / 1024} KiB a second.`;
  return new FurzeError('REQUEST_TIMEOUT', detail);
}
