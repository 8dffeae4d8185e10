/** The headers that tell whose page a browser asks for, `''` when absent. */
export interface SenderHeaders {
  readonly origin: string;
  readonly host: string;
  /** `Sec-Fetch-Site`, which browsers send and pages cannot forge. */
  readonly fetchSite: string;
  /** `Referer`. */
  readonly referer: string;
  readonly userAgent: string;
}

/** Tells pages of this server, and of the origins in `[server] cors_origins`, from those of others. */
export class Origins {
  private readonly allowed: ReadonlySet<string>;

  /** @param allowed origins that count as this server's own; `*` for all */
  constructor(allowed: readonly string[]) {
    this.allowed = new Set(allowed.map((origin) => origin.toLowerCase()));
  }

  /** True when a browser sends the request for a page that is not this server's own; its host has been looked at before. */
  isForeign({ origin, host, fetchSite, referer, userAgent }: SenderHeaders): boolean {
    if (this.allowed.has('*')) return false;
    if (origin !== '') return !this.allowed.has(origin.toLowerCase()) && !isOf(origin, host);
    if (fetchSite !== '') return fetchSite !== 'same-origin' && fetchSite !== 'none';
    // Over plain HTTP to an address beyond loopback a browser tells neither with an image; its own name it always tells.
    return BROWSER.test(userAgent) && !isOf(referer, host);
  }
}

/** The name by which every browser begins. */
const BROWSER = /^\s*mozilla\//i;

/** True for a page of that host. */
function isOf(page: string, host: string): boolean {
  return URL.canParse(page) && new URL(page).host === host.toLowerCase();
}
