import { isIP } from 'node:net';
import { isLoopback } from '../../config/base-url.ts';

/**
 * Tells the hosts that requests may name while no key protects the service. A web page can make a name of its own lead
 * to this machine (DNS rebinding) and then counts as a page of this service; it cannot do so with loopback names or with
 * addresses.
 */
export class Hosts {
  private readonly named: ReadonlySet<string>;
  private readonly takesAddresses: boolean;
  /** The last host that was found to be own: most callers name one and the same. */
  private lastOwn = '';

  /**
   * @param named hosts that count as own, without a port; `*` for all
   * @param host the address that the service listens on; beyond loopback, any address may be the machine's
   */
  constructor(named: readonly string[], host: string) {
    this.named = new Set([...named, host].map((name) => name.toLowerCase()));
    this.takesAddresses = !isLoopback(host);
  }

  /** True for a host that no page can make lead here. @param host with or without a port; no browser leaves it out */
  isOwn(host: string): boolean {
    if (host === this.lastOwn) return true;
    if (!this.isOwnName(nameOf(host))) return false;
    this.lastOwn = host;
    return true;
  }

  private isOwnName(name: string): boolean {
    if (name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)) return true;
    return (this.takesAddresses && isIP(name) !== 0) || this.named.has(name) || this.named.has('*');
  }
}

/** A host without its port and the brackets of an address. */
function nameOf(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  return name.replace(/^\[(.*)\]$/, '$1');
}
