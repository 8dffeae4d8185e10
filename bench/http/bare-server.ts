// The reference of the point reads: uWebSockets.js with nothing around it. Prints its port.
import { loadUws } from '../../src/http/uws-binary.ts';

const { uws, why } = loadUws();
if (uws === undefined) throw new Error(why);

const body = 'x'.repeat(Number(process.argv[2]));

uws
  .App()
  .any('/*', (res) => {
    res.writeHeader('Content-Type', 'application/json; charset=utf-8');
    res.end(body);
  })
  .listen('127.0.0.1', 0, 0, (socket) => {
    if (socket !== false) console.log(uws.us_socket_local_port(socket));
  });
process.on('SIGTERM', () => process.exit(0));
