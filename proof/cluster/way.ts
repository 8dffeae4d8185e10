import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from '../furze-process.ts';

/** A connection by way of this process, to its client and to its server. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** A way to a database that can be slow, silent and closed in one direction. */
export class Way {
  /** Of the database by this way. */
  readonly url: string;
  /** Most by which each piece comes later, in either direction, milliseconds. */
  delayMsMax = 0;
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private silence: Promise<void> = Promise.resolve();

  private constructor(url: string, server: Server) {
    this.url = url;
    this.server = server;
  }

  static async open(databaseUrl: string): Promise<Way> {
    const url = new URL(databaseUrl);
    const { hostname, port } = url;
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url.port = String((server.address() as AddressInfo).port);
    const way = new Way(url.href, server);
    server.on('connection', (near) => {
      const far = connect({ port: Number(port), host: hostname, allowHalfOpen: true, noDelay: true });
      const pair = { near, far };
      way.pairs.add(pair);
      way.forward(near, far, pair);
      way.forward(far, near, pair);
    });
    return way;
  }

  /** Lets nothing through for a time; what was sent meanwhile comes after it. */
  async beSilent(ms: number): Promise<void> {
    this.silence = pause(ms);
    await this.silence;
  }

  /** Tells one side of each connection that the other sends no more, and nothing to that one, which goes on sending. */
  closeHalf(side: keyof Pair): void {
    for (const pair of this.pairs) pair[side].end();
  }

  close(): void {
    this.server.close();
    for (const { near, far } of this.pairs) {
      near.destroy();
      far.destroy();
    }
  }

  private forward(from: Socket, to: Socket, pair: Pair): void {
    let last = Promise.resolve();
    from.on('data', (bytes) => {
      last = last.then(async () => {
        await this.silence;
        if (this.delayMsMax > 0) await pause(Math.random() * this.delayMsMax);
        if (to.writable) to.write(bytes);
      });
    });
    from.on('end', () => void last.then(() => to.end()));
    from.on('error', () => {});
    from.on('close', () => {
      this.pairs.delete(pair);
      to.destroy();
    });
  }
}
