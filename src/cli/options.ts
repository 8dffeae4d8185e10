import { InvalidArgumentError } from 'commander';

/** Reads a TCP port from the command line. @throws InvalidArgumentError */
export function parsePort(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new InvalidArgumentError('expected an integer from 0 to 65535');
  }
  return port;
}
