import { connect } from 'node:net';

/** What came back over a socket. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes as they are and reads until the server closes or `responses` answers are complete. */
export function sendRaw(port: number, text: string, responses = 1, waitMs = 300_000): Promise<RawResponse[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAll(received));
    };
    const timer = setTimeout(done, waitMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (parseAll(received).length >= responses) done();
    });
    socket.on('end', done);
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function parseAll(text: string): RawResponse[] {
  const all: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return all;
    const [first, ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    if (Buffer.byteLength(rest.slice(end + 4)) < length) return all;
    const body = Buffer.from(rest.slice(end + 4))
      .subarray(0, length)
      .toString();
    all.push({ status: Number(first!.split(' ')[1]), headers, body });
    rest = rest.slice(end + 4 + body.length);
  }
}
