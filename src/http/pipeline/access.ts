import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopback } from '../../config/base-url.ts';
import type { Config } from '../../config/config.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { mayDo, type Role } from '../../domain/roles.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ErrorReply } from '../route/problem-details.ts';
import type { Reply } from '../route/reply.ts';

/** The headers of a request, each looked up when it is asked for. */
export interface Headers {
  /** @param name in lower case. @returns the first of that name, `''` when there is none */
  header(name: string): string;
}

/** The part of the configuration that says who may do what: `[server]` and the named keys. */
export interface AccessRules extends Pick<Config['server'], 'api_key' | 'api_keys' | 'read_only_api_key'> {
  readonly key: Config['key'];
  /** Origins whose pages may write while there are no keys; `*` for all. */
  readonly cors_origins: readonly string[];
  /** Hosts beside those of loopback that requests may name while there are no keys; `*` for all. */
  readonly hosts: readonly string[];
  /** The address that the service listens on. */
  readonly host: string;
}

export interface Caller {
  /** Name of the key; `''` where none is asked for. */
  readonly name: string;
  readonly role: Role;
}

/** Where no key is asked for, everybody owns the service. */
export const ANYBODY: Caller = { name: '', role: 'own' };

/** The keys with their holders. */
function holders({ api_key, api_keys, read_only_api_key, key }: AccessRules) {
  const holder = (value: string, name: string, role: Role) => ({ value, caller: { name, role } });
  return [
    holder(api_key, 'api_key', 'own'),
    ...api_keys.map((value, at) => holder(value, `api_keys[${at}]`, 'own')),
    holder(read_only_api_key, 'read_only_api_key', 'read'),
    ...Object.entries(key).map(([name, { value, role }]) => holder(value, name, role)),
  ].filter(({ value }) => value !== '');
}

/** Decides who may do what, and answers 401, 403 and 421: by key where there is one, else by the host that is asked and the page that asks. */
export class Access {
  private readonly keys: readonly { readonly digest: Buffer; readonly caller: Caller }[];
  private readonly origins: Origins;
  private readonly hosts: Hosts;

  constructor(rules: AccessRules) {
    this.keys = holders(rules).map(({ value, caller }) => ({ digest: digest(value), caller }));
    this.origins = new Origins(rules.cors_origins);
    this.hosts = new Hosts(rules.hosts, rules.host);
  }

  /**
   * Refuses a request that names a host which a web page may have made lead here. A key tells better who asks.
   * @throws FurzeError FOREIGN_HOST
   */
  checkHost(head: Headers): void {
    if (this.keys.length > 0 || this.hosts.isOwn(head.header('host'))) return;
    throw new FurzeError(
      'FOREIGN_HOST',
      'Without an API key the service answers by loopback names and addresses alone; set [server] api_key, or name this host in [server] hosts.',
    );
  }

  /**
   * Tells whose key a request has; undefined for nobody's. All keys are compared, each by its hash, so the time taken tells nothing of
   * length, content or which one fits.
   * @param bearer true where `Authorization: Bearer` counts too
   */
  callerOf(head: Headers, bearer: boolean): Caller | undefined {
    if (this.keys.length === 0) return ANYBODY;
    const caller = this.holderOf(head.header('x-api-key'));
    if (caller !== undefined || !bearer) return caller;
    return this.holderOf(/^bearer +(.*)$/i.exec(head.header('authorization'))?.[1] ?? '');
  }

  /**
   * Refuses a write that is not allowed.
   * @param needed the role that it takes
   * @throws FurzeError READ_ONLY_KEY, ROLE_LACKS, FOREIGN_ORIGIN
   */
  checkWrite(head: Headers, { role }: Caller, needed: Role): void {
    if (role === 'read') throw new FurzeError('READ_ONLY_KEY', 'This API key may read and not write.');
    if (!mayDo(role, needed))
      throw new FurzeError('ROLE_LACKS', `This takes the role "${needed}"; the API key has "${role}".`);
    if (this.keys.length > 0 || !this.origins.isForeign(head)) return;
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

  private holderOf(sent: string): Caller | undefined {
    const hash = digest(sent);
    let holder: Caller | undefined;
    for (const key of this.keys) if (timingSafeEqual(hash, key.digest)) holder = key.caller;
    return holder;
  }
}

/** Says at start that anybody who reaches the address may read and write. */
export function warnOfOpenDoor(rules: AccessRules, log: Logger): void {
  const { host } = rules;
  if (holders(rules).length > 0 || isLoopback(host)) return;
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
  private lastOwn: string | undefined;

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

/** Tells pages of this server, and of the origins in `[server] cors_origins`, from those of others. */
class Origins {
  private readonly allowed: ReadonlySet<string>;

  /** @param allowed origins that count as this server's own; `*` for all */
  constructor(allowed: readonly string[]) {
    this.allowed = new Set(allowed.map((origin) => origin.toLowerCase()));
  }

  /** True when a browser sends the request for a page that is not this server's own; its host has been looked at before. */
  isForeign(head: Headers): boolean {
    if (this.allowed.has('*')) return false;
    const [origin, host] = [head.header('origin'), head.header('host')];
    if (origin !== '') return !this.allowed.has(origin.toLowerCase()) && !isOf(origin, host);
    // Browsers send it, and pages cannot forge it.
    const fetchSite = head.header('sec-fetch-site');
    if (fetchSite !== '') return fetchSite !== 'same-origin' && fetchSite !== 'none';
    // Over plain HTTP to an address beyond loopback a browser tells neither with an image; its own name it always tells.
    return BROWSER.test(head.header('user-agent')) && !isOf(head.header('referer'), host);
  }
}

/** The name by which every browser begins. */
const BROWSER = /^\s*mozilla\//i;

/** True for a page of that host. */
function isOf(page: string, host: string): boolean {
  return URL.canParse(page) && new URL(page).host === host.toLowerCase();
}
