import type { RequestHead } from '../pipeline/exchange.ts';

/** The headers that the service reads, each looked up when it is asked for. */
export abstract class HeadersByName implements Omit<RequestHead, 'method' | 'path' | 'query'> {
  get requestId(): string {
    return this.header('x-request-id');
  }

  get apiKey(): string {
    return this.header('x-api-key');
  }

  get apiVersion(): string {
    return this.header('x-api-version');
  }

  get authorization(): string {
    return this.header('authorization');
  }

  get origin(): string {
    return this.header('origin');
  }

  get host(): string {
    return this.header('host');
  }

  get fetchSite(): string {
    return this.header('sec-fetch-site');
  }

  get referer(): string {
    return this.header('referer');
  }

  get traceParent(): string {
    return this.header('traceparent');
  }

  get userAgent(): string {
    return this.header('user-agent');
  }

  /** @param name in lower case. @returns `''` when there is none */
  protected abstract header(name: string): string;
}
