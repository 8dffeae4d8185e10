import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../../config/base-url.ts';
import { apiKeys } from '../../config/schema.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ErrorReply } from '../route/problem-details.ts';
import type { Reply } from '../route/reply.ts';
import { Hosts } from './hosts.ts';
import { Origins, type SenderHeaders } from './origins.ts';

/** The headers that tell who asks, `''` when absent. */
export interface AccessHeaders extends SenderHeaders {
  readonly apiKey: string;
  readonly authorization: string;
}

/** Keys and addresses that decide over access. */
export interface AccessRules {
  /** Keys that may do everything; none at all lets everybody in. */
  readonly keys: readonly string[];
  /** A key that may read only; `''` for none. */
  readonly readOnlyKey: string;
  /** Origins whose pages may write while there are no keys; `*` for all. */
  readonly origins: readonly string[];
  /** Hosts beside those of loopback that requests may name while there are no keys; `*` for all. */
  readonly hosts: readonly string[];
  /** The address that the service listens on. */
  readonly host: string;
}

/** The right of a request: nothing, read, or all. */
export type Right = 'none' | 'read' | 'all';

/** The part of the configuration's `[server]` that says who may do what. */
export interface AccessSettings {
  readonly api_key: string;
  readonly api_keys: readonly string[];
  readonly read_only_api_key: string;
  readonly cors_origins: readonly string[];
  readonly hosts: readonly string[];
  readonly host: string;
}

export function accessRules(server: AccessSettings): AccessRules {
  return {
    keys: apiKeys(server),
    readOnlyKey: server.read_only_api_key,
    origins: server.cors_origins,
    hosts: server.hosts,
    host: server.host,
  };
}

/** Decides who may do what, and answers 401, 403 and 421: by key where there is one, else by the host that is asked and the page that asks. */
export class Access {
  private readonly full: readonly Buffer[];
  private readonly readOnly: Buffer | undefined;
  private readonly origins: Origins;
  private readonly hosts: Hosts;

  constructor({ keys, readOnlyKey, origins, hosts, host }: AccessRules) {
    this.full = keys.map(digest);
    this.readOnly = readOnlyKey === '' ? undefined : digest(readOnlyKey);
    this.origins = new Origins(origins);
    this.hosts = new Hosts(hosts, host);
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
export function warnOfOpenDoor({ keys, host }: AccessRules, log: Logger): void {
  if (keys.length > 0 || isLoopback(host)) return;
  log.warn(
    { host },
    'listening beyond this machine without a key: anybody who reaches this address can read and delete everything; set [server] api_key',
  );
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
