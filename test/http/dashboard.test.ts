import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './start.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { server: { api_key: 'hush' } } });
});
afterAll(() => server.stop());

it('serves the dashboard at / without a key, under a policy that loads nothing from elsewhere', async () => {
  const { status, text, headers } = await server.call('GET', '/');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-cache');
  expect(headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:",
  );
  expect(text).not.toMatch(/https?:/);
  expect(text).not.toMatch(/<script>|<style|style=|\son\w+=/);
});

it('serves its files compressed, for good under names of what they hold', async () => {
  const { text } = await server.call('GET', '/');
  const names = Array.from(
    text.matchAll(/"(\/dashboard\/app-[0-9a-f]{12}\.(?:js|css))"/g),
    ([, name]) => name!,
  );
  expect(names).toHaveLength(2);
  for (const name of names) {
    const { status, headers, text: content } = await server.call('GET', name);
    expect(status).toBe(200);
    expect(headers.get('content-encoding')).toBe('gzip');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
    expect(content.length).toBeGreaterThan(10_000);
  }
  expect((await server.call('GET', '/dashboard/app.js')).status).toBe(404);
  expect((await server.call('GET', '/dashboard/manifest.json')).status).toBe(404);
});
