import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OperatorError } from '../../src/domain/operator-error.ts';
import type { TlsFiles } from '../../src/http/engine/engine.ts';
import { readTls } from '../../src/http/engine/tls.ts';
import { jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import { writeSelfSigned } from './self-signed.ts';
import { serveRoutes } from './serve-routes.ts';

let folder = '';
let files: TlsFiles;
let others: TlsFiles;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'furze-tls-'));
  files = await writeSelfSigned(folder, 'own');
  others = await writeSelfSigned(folder, 'other');
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads over TLS, trusting the certificate and nothing else. */
async function ask(url: string): Promise<{ status: number | undefined; body: string }> {
  const ca = await readFile(files.certPath);
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, async (answer) => {
      resolve({ status: answer.statusCode, body: await text(answer) });
    }).on('error', reject);
  });
}

const LONG = 'x'.repeat(1_000_000);
const common = { tag: 't', summary: 's', response: { description: '' } } as const;
const routes = [
  route({ ...common, method: 'GET', path: '/small', handler: () => jsonText('"ok"') }),
  route({ ...common, method: 'GET', path: '/long', handler: () => jsonText(LONG) }),
  route({
    ...common,
    method: 'GET',
    path: '/parts',
    handler: () => ({ ...jsonText(''), parts: ['a'.repeat(50_000), 'b'.repeat(50_000)] }),
  }),
];

test('with a certificate the server speaks TLS, and nothing else', async () => {
  const server = await serveRoutes(routes, { tls: files });
  try {
    expect(await ask(`${server.base}/small`)).toEqual({ status: 200, body: '"ok"' });
    expect((await ask(`${server.base}/long`)).body === LONG).toBe(true);
    expect((await ask(`${server.base}/parts`)).body).toHaveLength(100_000);
    await expect(fetch(server.base.replace('https', 'http'))).rejects.toThrow();
  } finally {
    await server.close();
  }
});

test('a certificate or key that will not do is one line that says which, and shows nothing of it', async () => {
  expect(readTls({ ssl_cert: '', ssl_key: '' })).toBeUndefined();
  const { certPath, keyPath } = files;
  expect(readTls({ ssl_cert: certPath, ssl_key: keyPath })).toEqual(files);
  const junk = join(folder, 'junk');
  await writeFile(junk, 'secret words');
  const none = join(folder, 'none');
  const cases = [
    [none, keyPath, `ssl_cert: ${none} cannot be read (ENOENT).`],
    [certPath, none, `ssl_key: ${none} cannot be read (ENOENT).`],
    [junk, keyPath, `ssl_cert: ${junk} is no certificate in PEM`],
    [certPath, junk, `ssl_key: ${junk} is no private key in PEM`],
    [certPath, others.keyPath, `ssl_key: ${others.keyPath} is not the key of the certificate ${certPath}.`],
  ] as const;
  for (const [ssl_cert, ssl_key, message] of cases) {
    const attempt = () => readTls({ ssl_cert, ssl_key });
    expect(attempt).toThrow(OperatorError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/secret words|\n/);
  }
});
