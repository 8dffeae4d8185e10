import { isIP } from 'node:net';

/** The headers that tell whose page a browser asks for, `''` when absent. */
export interface SenderHeaders {
  readonly origin: string;
  readonly host: string;
  /** `Sec-Fetch-Site`, which browsers send and pages cannot forge. */
  readonly fetchSite: string;
}

/** Tells pages of this server, and of the origins in `[server] cors_origins`, from those of others. */
export class Origins {
  private readonly allowed: ReadonlySet<string>;
  private readonly host: string;

  /**
   * @param allowed origins that count as this server's own; `*` for all
   * @param host the address that the service listens on
   */
  constructor(allowed: readonly string[], host: string) {
    this.allowed = new Set(allowed.map((origin) => origin.toLowerCase()));
    this.host = host.toLowerCase();
  }

  /**
   * True when a browser sends the request for a page that is not this server's own. `Host` is looked at too: a page
   * whose name was made to lead here (DNS rebinding) has this origin and a host that nobody gave this server.
   */
  isForeign({ origin, host, fetchSite }: SenderHeaders): boolean {
    if (origin === '' && fetchSite === '') return false;
    if (this.allowed.has('*')) return false;
    if (origin !== '') {
      if (this.allowed.has(origin.toLowerCase())) return false;
      return hostOf(origin) !== host.toLowerCase() || !this.isOwnName(host);
    }
    if (fetchSite !== 'same-origin' && fetchSite !== 'none') return true;
    return (
      !this.isOwnName(host) && !['http', 'https'].some((scheme) => this.allowed.has(`${scheme}://${host}`))
    );
  }

  /** True for names that no stranger can make lead here. @param host with or without a port */
  private isOwnName(host: string): boolean {
    const name = host.toLowerCase().replace(/:\d+$/, '');
    if (name === this.host || name === 'localhost' || name.endsWith('.localhost')) return true;
    return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  }
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : '';
}
