import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const FIRST = 10_000;
/** The first port that is given out where the system does not tell (RFC 6335, section 6). */
const FIRST_GIVEN_OUT = 49_152;

/**
 * A TCP port of 127.0.0.1 that nothing listens on, for servers that cannot choose one themselves. It is none of those that the
 * system gives to connections and to whoever lets it choose: one of these could be gone before the server takes it, or while
 * that restarts.
 */
export async function freePort(): Promise<number> {
  const end = firstGivenOut();
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (end - FIRST));
    if (await isFree(port)) return port;
  }
}

/** The first of the ports that the system gives out by itself. */
function firstGivenOut(): number {
  try {
    const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const first = Number(range.split(/\s/)[0]);
    return first > FIRST ? first : FIRST_GIVEN_OUT;
  } catch {
    return FIRST_GIVEN_OUT;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
