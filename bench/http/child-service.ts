import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from '../../scripts/bundle-options.js';
import type { ConfigOverrides } from '../../src/config/config.ts';
import { SERVICE_FLAGS } from './processes.ts';

const SERVER = fileURLToPath(new URL('./child-server.ts', import.meta.url));
const BUNDLE = fileURLToPath(new URL('../../node_modules/.bench/child-server.js', import.meta.url));
let isBundled: Promise<unknown> | undefined;

export type Order = 'fit' | 'watch' | 'read' | 'count' | 'stop';

/** Time of the lists of a fit, and their number. */
export interface Made {
  readonly tookMs: number;
  readonly lists: number;
}

/** Messages of the process, one at a time. */
export interface Told {
  readonly port: number;
  /** A fit begins with its lists. */
  readonly making: true;
  readonly fitted: Made;
  readonly watching: true;
  /** The longest turn of the event loop of a watch, processor time. */
  readonly longestMs: number;
  /** Lists and answers that threads made so far. */
  readonly made: number;
}

/** A service in a process of its own that is told what to do. */
export class ChildService {
  readonly port: number;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  /** @param online how it answers who has no list yet */
  static async start(
    folder: string,
    online: NonNullable<ConfigOverrides['recommend']>['online'] = {},
  ): Promise<ChildService> {
    isBundled ??= bundle();
    await isBundled;
    const child = fork(BUNDLE, [folder, JSON.stringify(online)], { execArgv: [...SERVICE_FLAGS] });
    return new ChildService(child, await told(child, 'port'));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Starts a fit. */
  fit(): { readonly making: Promise<true>; readonly ended: Promise<Made> } {
    this.child.send('fit' satisfies Order);
    return { making: told(this.child, 'making'), ended: told(this.child, 'fitted') };
  }

  /** The longest turn of the event loop while something is done, milliseconds of processor time. */
  async longestTurnOf(work: () => Promise<unknown>): Promise<number> {
    await this.ask('watch', 'watching');
    await work();
    return this.ask('read', 'longestMs');
  }

  /** Lists and answers that threads made so far. */
  made(): Promise<number> {
    return this.ask('count', 'made');
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.send('stop' satisfies Order);
    await exited;
  }

  private ask<Name extends keyof Told>(order: Order, name: Name): Promise<Told[Name]> {
    this.child.send(order);
    return told(this.child, name);
  }
}

/** The next message of a name. */
function told<Name extends keyof Told>(child: ChildProcess, name: Name): Promise<Told[Name]> {
  return new Promise((resolve) => {
    const listen = (message: Partial<Told>) => {
      const value = message[name];
      if (value === undefined) return;
      child.off('message', listen);
      resolve(value);
    };
    child.on('message', listen);
  });
}

/** Makes one file of the server, which takes itself for one of the build: from 700 sources each start takes seconds. */
function bundle(): Promise<unknown> {
  const place = new URL('../../dist/child-server.js', import.meta.url).href;
  return build({
    ...bundleOptions(),
    splitting: false,
    entryPoints: [SERVER],
    outfile: BUNDLE,
    define: { 'import.meta.url': JSON.stringify(place) },
  });
}
