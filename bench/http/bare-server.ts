// The reference of the point reads: an engine with nothing around it. Arguments: uws or node, bytes of a body. Prints its port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadUws } from '../../src/http/uws-binary.ts';

const [name, bytes] = process.argv.slice(2);
const body = 'x'.repeat(Number(bytes));
const TYPE = 'application/json; charset=utf-8';

if (name === 'node') {
  const server = createServer((_req, res) => {
    res.writeHead(200, ['Content-Type', TYPE, 'Content-Length', String(body.length)]);
    res.end(body);
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
} else {
  const { uws, why } = loadUws();
  if (uws === undefined) throw new Error(why);
  const app = uws.App();
  app.any('/*', (res) => {
    res.writeHeader('Content-Type', TYPE);
    res.end(body);
  });
  app.listen('127.0.0.1', 0, 0, (socket) => {
    if (socket !== false) console.log(uws.us_socket_local_port(socket));
  });
}
process.on('SIGTERM', () => process.exit(0));
