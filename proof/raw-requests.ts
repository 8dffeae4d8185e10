import { connect } from 'node:net';
import type { Random } from '../src/domain/random.ts';
import { pause } from './furze-process.ts';

/** What a connection was given and what came of it. */
export interface RawOutcome {
  readonly kind: string;
  /** The statuses of all answers, in order. */
  readonly statuses: readonly number[];
  /** How it went wrong; undefined when it did not. */
  readonly fault: string | undefined;
}

interface RawRequest {
  readonly kind: string;
  readonly bytes: Buffer;
  /** Close after sending, without waiting for an answer. */
  readonly hangUp?: boolean;
  /** Send in pieces of random lengths. */
  readonly split?: boolean;
  /** How many answers at most. */
  readonly answersMax: number;
}

/** An answer, or the end of the connection, must have come by then. */
const ANSWER_MS_MAX = 300_000;

const BODY = '[{"FeedbackType":"read","UserId":"raw","ItemId":"i1","Timestamp":"2024-05-01T00:00:00Z"}]';
const GET = 'GET /api/popular?n=2 HTTP/1.1\r\nHost: localhost\r\n\r\n';
const POST_HEAD = 'POST /api/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const POST = `${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const CHUNKED = `${POST_HEAD}Transfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** One connection with bytes that a client should or should not send. */
export async function tryRaw(port: number, random: Random): Promise<RawOutcome> {
  const request = choose(random);
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const end = (fault?: string) => {
      clearTimeout(deadline);
      clearTimeout(quiet);
      socket.destroy();
      const statuses = [...received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
      const server = statuses.find((status) => status >= 500 && status !== 503 && status !== 505);
      const strange =
        received !== '' && !received.startsWith('HTTP/1.') ? 'an answer that is not HTTP' : undefined;
      const tooMany = statuses.length > request.answersMax ? `${statuses.length} answers` : undefined;
      resolve({
        kind: request.kind,
        statuses,
        fault: fault ?? strange ?? tooMany ?? (server === undefined ? undefined : `status ${server}`),
      });
    };
    const deadline = setTimeout(
      () => end(request.hangUp ? undefined : 'no answer and no end'),
      ANSWER_MS_MAX,
    );
    // Once something was answered, what else there is comes at once.
    let quiet: NodeJS.Timeout | undefined;
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      clearTimeout(quiet);
      quiet = setTimeout(end, 200);
    });
    // A reset is an end as well.
    socket.on('error', () => end()).on('close', () => end());
    socket.on('connect', async () => {
      for (const piece of request.split ? pieces(request.bytes, random) : [request.bytes]) {
        if (socket.destroyed) return;
        socket.write(piece);
        if (request.split) await pause(random.below(5));
      }
      if (request.hangUp) socket.end(() => end());
    });
  });
}

function choose(random: Random): RawRequest {
  const valid = [GET, POST, CHUNKED][random.below(3)] as string;
  const bytes = Buffer.from(valid);
  const requests: (() => RawRequest)[] = [
    () => ({ kind: 'split', bytes, split: true, answersMax: 1 }),
    () => ({
      kind: 'truncated',
      bytes: bytes.subarray(0, random.below(bytes.length)),
      hangUp: true,
      answersMax: 1,
    }),
    () => ({ kind: 'pipelined', bytes: Buffer.from(GET.repeat(2 + random.below(20))), answersMax: 22 }),
    () => ({ kind: 'pipelined writes', bytes: Buffer.from(POST + GET + CHUNKED), answersMax: 3 }),
    () => ({ kind: 'chunked', bytes: Buffer.from(CHUNKED), split: random.below(2) === 0, answersMax: 1 }),
    () => ({
      kind: 'broken chunks',
      bytes: Buffer.from(CHUNKED.replace(/\r\n\r\n[0-9a-f]+/, '\r\n\r\nzz')),
      hangUp: true,
      answersMax: 2,
    }),
    () => ({
      kind: 'both lengths',
      bytes: Buffer.from(CHUNKED.replace('Transfer', 'Content-Length: 5\r\nTransfer')),
      hangUp: true,
      answersMax: 3,
    }),
    () => ({
      kind: 'two lengths',
      bytes: Buffer.from(POST.replace('Content-Length', 'Content-Length: 3\r\nContent-Length')),
      hangUp: true,
      answersMax: 3,
    }),
    () => ({
      kind: 'huge length',
      bytes: Buffer.from(POST.replace(/Length: \d+/, `Length: ${'9'.repeat(1 + random.below(25))}`)),
      hangUp: true,
      answersMax: 2,
    }),
    () => ({
      kind: 'huge header',
      bytes: Buffer.from(GET.replace('Host: localhost', `Host: localhost\r\nX-Big: ${'a'.repeat(100_000)}`)),
      hangUp: true,
      answersMax: 2,
    }),
    () => ({ kind: 'mutated', bytes: mutate(bytes, random), hangUp: true, answersMax: 3 }),
    () => ({
      kind: 'noise',
      bytes: Buffer.from(Array.from({ length: random.below(500) }, () => random.below(256))),
      hangUp: true,
      answersMax: 3,
    }),
  ];
  return (requests[random.below(requests.length)] as () => RawRequest)();
}

function mutate(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0; times--)
    copy[random.below(copy.length)] = random.below(256);
  return copy;
}

function* pieces(bytes: Buffer, random: Random): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(Math.ceil(bytes.length / 3));
    yield bytes.subarray(at, (at += length));
  }
}
