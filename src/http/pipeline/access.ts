import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopback } from '../../config/base-url.ts';
import { apiKeys } from '../../config/schema.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ErrorReply } from '../route/problem-details.ts';
import type { Reply } from '../route/reply.ts';

/** The headers that tell who asks, `''` when absent. */
export interface AccessHeaders extends SenderHeaders {
  readonly apiKey: string;
  readonly authorization: string;
}

/** The right of a request: nothing, read, or all. */
export type Right = 'none' | 'read' | 'all';

/** The part of the configuration's `[server]` that says who may do what. */
export interface AccessRules {
  /** Keys that may do everything; none at all lets everybody in. */
  readonly api_key: string;
  readonly api_keys: readonly string[];
  /** A key that may read only; `''` for none. */
  readonly read_only_api_key: string;
  /** Origins whose pages may write while there are no keys; `*` for all. */
  readonly cors_origins: readonly string[];
  /** Hosts beside those of loopback that requests may name while there are no keys; `*` for all. */
  readonly hosts: readonly string[];
  /** The address that the service listens on. */
  readonly host: string;
}

/** Decides who may do what, and answers 401, 403 and 421: by key where there is one, else by the host that is asked and the page that asks. */
export class Access {
  private readonly full: readonly Buffer[];
  private readonly readOnly: Buffer | undefined;
  private readonly origins: Origins;
  private readonly hosts: Hosts;

  constructor(server: AccessRules) {
    const { read_only_api_key: readOnlyKey } = server;
    this.full = apiKeys(server).map(digest);
    this.readOnly = readOnlyKey === '' ? undefined : digest(readOnlyKey);
    this.origins = new Origins(server.cors_origins);
    this.hosts = new Hosts(server.hosts, server.host);
  }

  /**
   * Refuses a request that names a host which a web page may have made lead here. A key tells better who asks.
   * @throws FurzeError FOREIGN_HOST
   */
  checkHost(head: AccessHeaders): void {
    if (this.full.length > 0 || this.hosts.isOwn(head.host)) return;
    throw new FurzeError(
      'FOREIGN_HOST',
      'Without an API key the service answers by loopback names and addresses alone; set [server] api_key, or name this host in [server] hosts.',
    );
  }

  /**
   * Tells the right that the key of a request gives. All keys are compared, each by its hash, so the time taken tells nothing of
   * length, content or which one fits.
   * @param bearer true where `Authorization: Bearer` counts too
   */
  rightOf(head: AccessHeaders, bearer: boolean): Right {
    if (this.full.length === 0) return 'all';
    const right = this.rightOfKey(head.apiKey);
    if (right !== 'none' || !bearer) return right;
    return this.rightOfKey(/^bearer +(.*)$/i.exec(head.authorization)?.[1] ?? '');
  }

  /**
   * Refuses a write that is not allowed.
   * @throws FurzeError READ_ONLY_KEY, FOREIGN_ORIGIN
   */
  checkWrite(head: AccessHeaders, right: Right): void {
    if (right !== 'all') throw new FurzeError('READ_ONLY_KEY', 'This API key may read and not write.');
    if (this.full.length > 0 || !this.origins.isForeign(head)) return;
    throw new FurzeError(
      'FOREIGN_ORIGIN',
      'Without an API key, pages of other origins may read and not write; set [server] api_key, or name the origin in [server] cors_origins.',
    );
  }

  /** Answers a request without a key that lets it do anything: 401, with the scheme that it may use. */
  unauthorized(errorReply: ErrorReply, bearer: boolean): Reply {
    const error = new FurzeError('UNAUTHORIZED', 'Send the API key in the header X-API-Key.');
    return errorReply(error, [['WWW-Authenticate', bearer ? 'Bearer' : 'ApiKey']]);
  }

  private rightOfKey(sent: string): Right {
    const hash = digest(sent);
    let right: Right = 'none';
    if (this.readOnly !== undefined && timingSafeEqual(hash, this.readOnly)) right = 'read';
    for (const key of this.full) if (timingSafeEqual(hash, key)) right = 'all';
    return right;
  }
}

/** Says at start that anybody who reaches the address may read and write. */
export function warnOfOpenDoor(server: AccessRules, log: Logger): void {
  const { host } = server;
  if (apiKeys(server).length > 0 || isLoopback(host)) return;
  log.warn(
    { host },
    'listening beyond this machine without a key: anybody who reaches this address can read and delete everything; set [server] api_key',
  );
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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

/** The headers that tell whose page a browser asks for, `''` when absent. */
interface SenderHeaders {
  readonly origin: string;
  readonly host: string;
  /** `Sec-Fetch-Site`, which browsers send and pages cannot forge. */
  readonly fetchSite: string;
  /** `Referer`. */
  readonly referer: string;
  readonly userAgent: string;
}

/** Tells pages of this server, and of the origins in `[server] cors_origins`, from those of others. */
class Origins {
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
