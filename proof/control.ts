import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server with nothing in it: what its answers take, the machine takes. */
const BARE_SERVER = `
const server = require('node:http').createServer((req, res) => res.end('{}'));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit(0));`;

/** A bare handler in a process of its own, asked beside the service to tell a slow machine from a slow service. */
export class Control {
  readonly url: string;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts it. It ends with this process at the latest. */
  static async start(): Promise<Control> {
    const child = spawn(process.execPath, ['-e', BARE_SERVER], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const [port] = await once(child.stdout!, 'data');
    return new Control(child, Number(port));
  }

  get pid(): number {
    return this.child.pid as number;
  }

  async stop(): Promise<void> {
    this.child.kill();
    await once(this.child, 'close');
  }
}
