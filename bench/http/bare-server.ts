// The reference of the point reads: an engine with nothing around it, which sends the same headers as the service does
// and a body of the same size. Arguments: uws or node, bytes of a body. Prints its port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadUws } from '../../src/http/engine/engine-choice.ts';
import { commonHeaders } from '../../src/http/route/reply.ts';

const [name, bytes] = process.argv.slice(2);
const body = 'x'.repeat(Number(bytes));
const HEADERS = [
  ['X-Request-ID', 'f3a1b2c4d5e6-0zz'],
  ...commonHeaders('application/json; charset=utf-8'),
] as const;

if (name === 'node') {
  const head = [...HEADERS.flat(), 'Content-Length', String(body.length)];
  const server = createServer((_req, res) => {
    res.writeHead(200, head);
    res.end(body);
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
} else {
  const { uws, why } = loadUws();
  if (uws === undefined) throw new Error(why);
  const app = uws.App();
  app.any('/*', (res) => {
    for (const [name, value] of HEADERS) res.writeHeader(name, value);
    res.end(body);
  });
  app.listen('127.0.0.1', 0, 0, (socket) => {
    if (socket !== false) console.log(uws.us_socket_local_port(socket));
  });
}
process.on('SIGTERM', () => process.exit(0));
