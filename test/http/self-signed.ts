import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TlsFiles } from '../../src/http/engine/engine.ts';

/** Tags of the parts of a certificate (X.690, RFC 5280). */
const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
  ip: 0x87,
};
const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302');
const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, 'hex'));
}

/**
 * Writes a self-signed certificate for 127.0.0.1 and its key into a folder, as `NAME.crt` and `NAME.key`. A certificate
 * made when it is wanted never runs out, and no key lies about.
 */
export async function writeSelfSigned(folder: string, name: string): Promise<TlsFiles> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, ECDSA_WITH_SHA256);
  const who = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.text, Buffer.from('furze test')))),
  );
  const time = (text: string) => der(TAG.time, Buffer.from(text));
  const address = der(TAG.sequence, der(TAG.ip, Buffer.from([127, 0, 0, 1])));
  const unsigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1])),
    algorithm,
    who,
    der(TAG.sequence, time('20200101000000Z'), time('21000101000000Z')),
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, der(TAG.sequence, SUBJECT_ALT_NAME, der(TAG.octets, address)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', unsigned, privateKey)]);
  const certificate = der(TAG.sequence, unsigned, algorithm, der(TAG.bits, signature));
  const files = { certPath: join(folder, `${name}.crt`), keyPath: join(folder, `${name}.key`) };
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trim();
  await writeFile(files.certPath, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  await writeFile(files.keyPath, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return files;
}
