import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../../config/base-url.ts';
import { apiKeys } from '../../config/schema.ts';
import { FurzeError } from '../../domain/errors.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ErrorReply } from '../route/problem-details.ts';
import type { Reply } from '../route/reply.ts';
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
  readonly host: string;
}

export function accessRules(server: AccessSettings): AccessRules {
  return {
    keys: apiKeys(server),
    readOnlyKey: server.read_only_api_key,
    origins: server.cors_origins,
    host: server.host,
  };
}

/** Decides who may do what, and answers 401 and 403: by key where there is one, else by whether a browser asks for a page of another origin. */
export class Access {
  private readonly full: readonly Buffer[];
  private readonly readOnly: Buffer | undefined;
  private readonly origins: Origins;

  constructor({ keys, readOnlyKey, origins, host }: AccessRules) {
    this.full = keys.map(digest);
    this.readOnly = readOnlyKey === '' ? undefined : digest(readOnlyKey);
    this.origins = new Origins(origins, host);
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
