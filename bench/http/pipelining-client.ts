// Sends requests to a port over many connections, on each of them several at once without waiting for answers. Arguments: port,
// connections, requests of a connection at once, what they ask for. Says when all are connected; begins when it is told to, goes on
// until it is told to stop, and tells how many it sent, how many were answered in their order, how many connections were closed
// without a word, and how many it opened anew because an answer said that it was the last one.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for answers that are under way when it is told to stop. */
const LAST_MS = 10_000;
const ID = 'X-Request-ID: ';

const [port = 0, connections = 0, depth = 0] = process.argv.slice(2, 5).map(Number);
const path = process.argv[5]!;
const requests = Array.from(
  { length: depth },
  (_, at) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${ID}${at}\r\n\r\n`,
);
const volley = Buffer.from(requests.join(''));
const sockets = new Set<Socket>();
let hasBegun = false;
let goesOn = true;
const told = { sent: 0, answered: 0, closed: 0, reopened: 0 };

/** Opens a connection that takes another one's place where the server says that it closes. */
async function open(): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  sockets.add(socket);
  let next = 0;
  let rest = '';
  let isLast = false;
  socket.once('close', () => {
    sockets.delete(socket);
    if (goesOn && !isLast) told.closed++;
    else if (goesOn) void open().then(() => told.reopened++);
  });
  socket.on('data', (part: string) => {
    const text = rest + part;
    isLast ||= text.includes('\r\nConnection: close');
    let at = 0;
    for (;;) {
      const found = text.indexOf(ID, at);
      const end = found < 0 ? -1 : text.indexOf('\r\n', found);
      if (end < 0) break;
      if (text.slice(found + ID.length, end) === String(next)) told.answered++;
      next = (next + 1) % depth;
      at = end;
      if (next === 0 && goesOn && !isLast) send(socket);
    }
    rest = text.slice(Math.max(at, text.length - 200));
  });
  if (hasBegun) send(socket);
}

function send(socket: Socket): void {
  told.sent += depth;
  socket.write(volley);
}

await Promise.all(Array.from({ length: connections }, open));
const word = () => new Promise((resolve) => process.once('message', resolve));
process.send?.('ready');
await word();
hasBegun = true;
for (const socket of sockets) send(socket);
await word();
goesOn = false;
for (let waited = 0; waited < LAST_MS && told.answered < told.sent; waited += 50) await delay(50);
process.send?.({ ...told });
for (const socket of sockets) socket.destroy();
process.disconnect();
