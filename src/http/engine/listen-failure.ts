import { Server } from 'node:net';
import { OperatorError } from '../../domain/operator-error.ts';

/** Reasons why an address cannot be listened on, by the system's code. */
const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `port ${port} of ${host} is taken by another process; choose another with --port or [server] port`,
  EACCES: (host, port) =>
    `no permission to listen on port ${port} of ${host}; choose one from 1024 up with --port or [server] port`,
  EADDRNOTAVAIL: (host) => `this machine has no address ${host}; see --host or [server] host`,
  ENOTFOUND: (host) => `the name ${host} is not known; see --host or [server] host`,
};

/**
 * Says before anything is loaded that an address cannot be listened on; whoever takes it meanwhile is met when it is.
 * @throws OperatorError for a usual reason
 */
export async function checkAddress(host: string, port: number): Promise<void> {
  const error = await explainListenFailure(host, port, undefined);
  if (error !== undefined) throw error;
}

/**
 * Finds out why an address could not be listened on: an engine may not tell, the system does.
 * @returns an error for whoever started the service, or `error` itself where the reason is not a usual one
 */
export async function explainListenFailure(host: string, port: number, error: unknown): Promise<unknown> {
  const code = await tryListening(host, port);
  const reason = code === undefined ? undefined : REASONS[code];
  return reason === undefined ? error : new OperatorError(reason(host, port));
}

/** The system's code for what stands in the way, undefined when nothing does. */
function tryListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = new Server();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
