import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { Engine, Flow } from '../engine/engine.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Reply } from '../route/reply.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Pace, PaceWatch } from './pace-watch.ts';

/** Characters of a body up to which it goes out in one piece, handed to the engine and forgotten. */
const WHOLE_LENGTH_MAX = 16 * 1024;
/** Bytes handed to the engine at once. */
const PIECE_BYTES = 64 * 1024;
/** Characters handed over at once of an answer in parts: an engine may keep a piece whole that its peer does not take. */
const PIECE_LENGTH = 16 * 1024;
/** Bytes that an answer of unknown length takes of the budget at least: a part, the engine's copy and the maker of parts. */
const PARTS_BYTES = 64 * 1024;
/** Bytes that each character of a part takes of the budget: its own and those of the engine's copy. */
const PART_BYTES_A_CHARACTER = 2;
/** Pieces that go out before others have their turn. */
const PIECES_A_TURN = 4;

/** Limits that long answers go out under; one for all requests. */
export interface OutflowRules {
  /** Memory of all long answers that their peers have not taken yet. */
  readonly budget: ByteBudget;
  readonly paces: PaceWatch;
}

/** True for an answer that goes out in pieces. */
export function isLong({ parts, body }: Reply): boolean {
  return parts !== undefined || body.length > WHOLE_LENGTH_MAX;
}

/** A reply with its body as bytes, so that the string it was made as need not live as long as it takes to go out. */
export function asBytes(reply: Reply): Reply {
  const { body } = reply;
  return typeof body === 'string' ? { ...reply, body: Buffer.from(body) } : reply;
}

/**
 * A long answer on its way out, as fast as its peer takes it. Its memory counts against the budget until the last byte
 * is taken; a peer that takes it too slowly is cut off.
 */
export class Outflow {
  private readonly rules: OutflowRules;
  private heldBytes: number;
  private readonly pace: Pace;
  private isOver = false;
  private wake = () => {};

  private constructor(rules: OutflowRules, heldBytes: number, onLate: () => void) {
    this.rules = rules;
    this.heldBytes = heldBytes;
    this.pace = rules.paces.start(onLate);
  }

  /**
   * Takes the memory that a reply needs.
   * @param reply its body in bytes, as `asBytes` makes it
   * @param onLate called once when the peer is too slow
   * @returns undefined when there is not enough
   */
  static open(rules: OutflowRules, reply: Reply, onLate: () => void): Outflow | undefined {
    const bytes = reply.parts === undefined ? reply.body.length : PARTS_BYTES;
    return rules.budget.take(bytes) ? new Outflow(rules, bytes, onLate) : undefined;
  }

  /**
   * Sends the reply to its end.
   * @returns true when all of it is out, false when `end` came first
   * @throws what making a part throws; the peer then has a torso
   */
  async send<Response>(
    engine: Engine<Response>,
    res: Response,
    reply: Reply,
    exchange: Exchange,
    closeConnection: boolean,
  ): Promise<boolean> {
    const parts: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> = reply.parts ?? [
      reply.body,
    ];
    const total = reply.parts === undefined ? reply.body.length : -1;
    const flow = engine.begin(res, reply, exchange, closeConnection, total);
    flow.onReady = () => this.wake();
    for await (const part of parts) {
      if (reply.lasts) this.pace.begin();
      if (!(await this.sendPart(flow, part))) return false;
      if (reply.lasts) this.pace.rest();
      // The next part is made in a turn of its own.
      await turns.take();
    }
    if (this.isOver) return false;
    flow.end();
    return true;
  }

  /** Gives the memory back; nothing is sent any more. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.pace.end();
    this.rules.budget.give(this.heldBytes);
    this.wake();
  }

  private async sendPart(flow: Flow, part: string | Uint8Array): Promise<boolean> {
    if (typeof part === 'string') this.hold(part.length * PART_BYTES_A_CHARACTER);
    let pieces = 0;
    for (let at = 0; at < part.length; ) {
      if (pieces++ % PIECES_A_TURN === PIECES_A_TURN - 1) await turns.take();
      if (this.isOver) return false;
      const piece = pieceFrom(part, at);
      at += piece.length;
      if (!flow.write(piece) && !this.isOver) await new Promise<void>((resolve) => (this.wake = resolve));
      this.pace.moved(piece.length);
    }
    return !this.isOver;
  }

  /** Counts what a part takes that is larger than those before it. */
  private hold(bytes: number): void {
    if (bytes <= this.heldBytes || this.isOver) return;
    this.rules.budget.add(bytes - this.heldBytes);
    this.heldBytes = bytes;
  }
}

/** The next piece of a part; a character of two units stays whole. */
function pieceFrom(part: string | Uint8Array, at: number): string | Uint8Array {
  if (typeof part !== 'string') return part.subarray(at, at + PIECE_BYTES);
  const end = at + PIECE_LENGTH;
  const isCut = end < part.length && (part.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return part.slice(at, isCut ? end - 1 : end);
}
