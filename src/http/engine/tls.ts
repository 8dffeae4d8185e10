import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../domain/furze-error.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { TlsFiles } from './engine.ts';

/** The part of the configuration's `[server]` that is about TLS; both or neither are set. */
export interface TlsSettings {
  readonly ssl_cert: string;
  readonly ssl_key: string;
}

/**
 * The certificate and key to serve with, checked before any engine reads them: engines say little about what is wrong.
 * They are read once, at the start; files that others renew count from the next start on.
 * @returns undefined when none are set
 * @throws OperatorError when a file cannot be read, is not what it should be, or the two do not fit
 */
export function readTls({ ssl_cert: certPath, ssl_key: keyPath }: TlsSettings): TlsFiles | undefined {
  if (certPath === '') return undefined;
  const cert = read('ssl_cert', certPath);
  const key = read('ssl_key', keyPath);
  try {
    createSecureContext({ cert });
  } catch (error) {
    throw new OperatorError(`ssl_cert: ${certPath} is no certificate in PEM (${reasonOf(error)}).`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const isOther = /key values mismatch/.test(reasonOf(error));
    throw new OperatorError(
      isOther
        ? `ssl_key: ${keyPath} is not the key of the certificate ${certPath}.`
        : `ssl_key: ${keyPath} is no private key in PEM without a passphrase (${reasonOf(error)}).`,
    );
  }
  return { certPath, keyPath };
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new OperatorError(`${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** The reason that OpenSSL gives, which names no part of the key. */
function reasonOf(error: unknown): string {
  return messageOf(error).split('::').at(-1)!;
}
