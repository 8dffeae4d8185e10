import { request } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isLoopback } from '../config/base-url.ts';
import { withoutUserInfo } from '../config/without-user-info.ts';
import { OperatorError } from '../domain/operator-error.ts';

/** Options of a call beside its method and path. */
interface CallOptions {
  readonly body?: Uint8Array<ArrayBuffer> | string;
  /** Longest wait for the answer, milliseconds; none when absent. */
  readonly timeoutMs?: number;
}

/** Asks a running service over HTTP, with its key. */
export class ServiceClient {
  /** Without a path and without user information, as messages show it. */
  readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly fetch: typeof fetchLocal;

  /**
   * @param url without a path; a user name and a password in it are for a proxy before the service (RFC 7617)
   * @param key empty for none
   */
  constructor(url: string, key: string) {
    this.url = withoutUserInfo(url).replace(/\/+$/, '');
    const { protocol, hostname } = new URL(url);
    const isLocal = protocol === 'https:' && isLoopback(hostname);
    this.fetch = isLocal ? fetchLocal : fetch;
    this.headers = { ...basicAuthorization(url), ...(key !== '' && { 'X-API-Key': key }) };
  }

  /** @throws OperatorError when nothing answers, or the key is not taken */
  async send(method: string, path: string, { body, timeoutMs }: CallOptions = {}): Promise<Response> {
    const signal = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const headers = { ...this.headers, ...type };
    let response: Response;
    try {
      response = await this.fetch(this.url + path, {
        method,
        headers,
        body: body ?? null,
        signal,
      });
    } catch (error) {
      const reason = reasonOf(error);
      throw new OperatorError(
        DISTRUST.test(reason)
          ? `The certificate of ${this.url} is not trusted here (${reason}); NODE_EXTRA_CA_CERTS=FILE names its authority's.`
          : `${this.url} does not answer (${reason}); is the service running there?`,
      );
    }
    if (response.status === 401)
      throw new OperatorError(`${this.url} asks for its key; set FURZE_SERVER_API_KEY.`);
    return response;
  }

  /** @throws OperatorError when there is no answer or it is a refusal, in the words of the service */
  async ask(method: string, path: string, options?: CallOptions): Promise<Response> {
    const response = await this.send(method, path, options);
    if (response.ok) return response;
    const { detail } = readProblem(await response.text());
    throw new OperatorError(`${this.url} answered ${response.status}: ${detail}`);
  }
}

/** Codes of OpenSSL and Node.js for certificates of somebody unknown, of another name or of another time. */
const DISTRUST = /CERT_|_CERT|CERTIFICATE/;

interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | string | null;
  readonly signal: AbortSignal | null;
}

/**
 * As `fetch`, on this machine, with any certificate: it is for the name by which others call the service, and without TLS
 * the key goes to any process that listens here, too.
 */
function fetchLocal(url: string, { method, headers, body, signal }: Asked): Promise<Response> {
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: false, rejectUnauthorized: false, ...(signal && { signal }) };
    const asked = request(url, options, (message) => {
      const { statusCode: status = 0, headers: given } = message;
      const answered = Object.entries(given).map(
        ([name, value]) => [name, String(value)] as [string, string],
      );
      const text = status === 204 ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
      resolve(new Response(text as ConstructorParameters<typeof Response>[0], { status, headers: answered }));
    });
    asked.on('error', (cause) =>
      reject(signal?.aborted ? signal.reason : new Error(cause.message, { cause })),
    );
    asked.end(body ?? undefined);
  });
}

function basicAuthorization(url: string): Readonly<Record<string, string>> {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return {};
  const pair = [username, password].map(decoded).join(':');
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A part of a URL without percent-encoding; as it is where it has none that is well-formed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  if (name === 'TimeoutError') return 'it took too long';
  return cause?.code ?? cause?.message ?? message;
}

/** The text of a refusal: the problem details of the service, or the plain text of something else. */
export function readProblem(text: string): {
  readonly detail: string;
  readonly errors?: { path: string; message: string }[];
} {
  const plain = text.trim().slice(0, 500);
  try {
    return { detail: plain, ...(JSON.parse(text) as object) };
  } catch {
    return { detail: plain };
  }
}
