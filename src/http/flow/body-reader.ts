import { FurzeError } from '../../domain/furze-error.ts';
import { overloaded } from '../../platform/concurrency/overload-error.ts';
import { BAD_FRAMING } from '../engine/engine.ts';
import type { ByteBudget } from './byte-budget.ts';
import { BYTES_PER_SECOND_MIN, type Pace, type PaceWatch } from './pace-watch.ts';

/** Memory that a body takes when its first chunk comes, unless it is known to be smaller. */
const FIRST_BYTES = 16 * 1024;
/** Memory that a long body takes at a time: clearing as much as a body of megabytes holds would take milliseconds. */
const STEP_BYTES = 256 * 1024;
/** The part of the memory for bodies, an eighth, that longer ones leave to those within a step. */
const SHORT_SHARE = 8;

const NOTHING = new Uint8Array(0);

/** Limits that bodies are read under; one for all requests. */
export interface BodyRules {
  readonly bytesMax: number;
  /** Memory of all bodies between their first byte and the answer to their request. */
  readonly budget: ByteBudget;
  readonly paces: PaceWatch;
}

/** The bytes of a body, or the reason why they were refused. */
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
      if (isLast) this.finish(this.taken());
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
    const { lengthBytes, size, buffer } = this;
    const roomy = Math.max(FIRST_BYTES, Math.min(buffer.length * 2, size + STEP_BYTES), atLeast);
    // A buffer that was made to grow has addresses up to the limit and no further; more than that never comes.
    const likely = isLast ? atLeast : Math.min(roomy, Math.max(atLeast, this.rules.bytesMax));
    // No more than what the body is said to be, should that suffice.
    const bytes = lengthBytes >= atLeast ? Math.min(likely, lengthBytes) : likely;
    const { budget, bytesMax } = this.rules;
    // A few long bodies that come slowly must not keep out all the short ones; the longest fits all the same.
    const spared = Math.min(budget.bytesMax / SHORT_SHARE, Math.max(0, budget.bytesMax - bytesMax));
    if (!budget.take(bytes - this.heldBytes, bytes > STEP_BYTES ? spared : 0)) return false;
    this.heldBytes = bytes;
    try {
      if (buffer.buffer.resizable) buffer.buffer.resize(bytes);
      else {
        this.buffer = this.roomOf(bytes);
        this.buffer.set(buffer.subarray(0, size));
      }
      return true;
    } catch {
      // The system has no such memory now, whatever the bound says.
      return false;
    }
  }

  /** Room that a long body can grow in without being copied: of what it may come to only the addresses are taken. */
  private roomOf(bytes: number): Uint8Array<ArrayBuffer> {
    const { lengthBytes, rules } = this;
    if (bytes < STEP_BYTES) return new Uint8Array(bytes);
    const maxByteLength = lengthBytes >= bytes ? lengthBytes : rules.bytesMax;
    return new Uint8Array(new ArrayBuffer(bytes, { maxByteLength }));
  }

  /** The bytes that came, in a buffer of their own, which may be handed to another thread. */
  private taken(): Uint8Array<ArrayBuffer> {
    const { buffer, size } = this;
    if (size === 0) return new Uint8Array(0);
    if (buffer.buffer.resizable) buffer.buffer.resize(size);
    return size === buffer.length ? buffer : buffer.subarray(0, size);
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

/** Bytes of a refused body that are let flow by, so that its connection lives on; the native engine takes no longer one. */
const PASSED_OVER_MAX = 999_999_999;

/** True for a body that is too long to be let flow by when it is refused. */
export function isBeyondPassing(lengthBytes: number): boolean {
  return lengthBytes > PASSED_OVER_MAX;
}

/**
 * Tells why a body is refused before any of it has come.
 * @param lengthBytes the value of Content-Length, 0 without one, `BAD_FRAMING` or `UNSURE_END`
 */
export function refusalByLength(lengthBytes: number, bytesMax: number): FurzeError | undefined {
  if (lengthBytes === BAD_FRAMING) {
    const detail = 'Send one Host, and one Content-Length or one Transfer-Encoding that says chunked.';
    return new FurzeError(
      'BAD_REQUEST',
      `The request does not tell its host, or where its body ends. ${detail}`,
    );
  }
  return lengthBytes > bytesMax ? tooLarge(bytesMax) : undefined;
}

function tooLarge(bytesMax: number): FurzeError {
  return new FurzeError('BODY_TOO_LARGE', `A body has at most ${bytesMax} bytes.`);
}

function tooSlow(): FurzeError {
  const detail = `The body came slower than ${BYTES_PER_SECOND_MIN / 1024} KiB a second.`;
  return new FurzeError('REQUEST_TIMEOUT', detail);
}
