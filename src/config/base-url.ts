import { isIP } from 'node:net';

/** Where a server listens; plain HTTP unless it says otherwise. */
interface Address {
  readonly protocol?: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

/** An address as a URL without a path; an address for every interface is reached by the loopback one. */
export function baseUrl({ protocol = 'http', host, port }: Address): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** True for a host that this machine alone reaches; one of a URL may have brackets. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host === '::1' ||
    host === '[::1]' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}
