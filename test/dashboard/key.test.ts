import { beforeEach, expect, it, vi } from 'vitest';

const kept = new Map<string, string>();
/** Answers that are under way, each by what it was asked with. */
const asked: { readonly key: string | undefined; readonly answer: (status: number) => void }[] = [];

vi.stubGlobal('sessionStorage', {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
  removeItem: (name: string) => kept.delete(name),
});
vi.stubGlobal('fetch', (_path: string, { headers }: { headers: Record<string, string> }) => {
  return new Promise<Response>((resolve) => {
    asked.push({
      key: headers['X-API-Key'],
      answer: (status) => resolve(new Response('{"detail":"no"}', { status })),
    });
  });
});

interface Flag {
  value: boolean;
}

/** What the page has of it; its types are those of a browser, which tests are checked without. */
interface Api {
  readonly hasKey: Flag;
  readonly needsKey: Flag;
  readonly isKeyRefused: Flag;
  setKey(key: string): void;
  ask(path: string): Promise<Response>;
}
const { href } = new URL('../../src/dashboard/api.ts', import.meta.url);
const { ask, hasKey, isKeyRefused, needsKey, setKey } = (await import(href)) as Api;

beforeEach(() => {
  kept.clear();
  asked.length = 0;
  hasKey.value = needsKey.value = isKeyRefused.value = false;
});

it.each([undefined, 'older'])(
  'an answer that says no to %s leaves a key that was entered since',
  async (before) => {
    if (before !== undefined) setKey(before);
    const late = ask('/api/admin/series');
    setKey('newer');
    asked[0]!.answer(401);
    await expect(late).rejects.toMatchObject({ status: 401, message: 'no' });
    expect(asked[0]!.key).toBe(before);
    expect([hasKey.value, needsKey.value, isKeyRefused.value]).toEqual([true, false, false]);
  },
);

it.each([
  [undefined, false],
  ['wrong', true],
])('an answer that says no to %s asks for a key', async (key, isRefused) => {
  if (key !== undefined) setKey(key);
  const refused = ask('/api/admin/series');
  asked[0]!.answer(401);
  await expect(refused).rejects.toMatchObject({ status: 401 });
  expect([hasKey.value, needsKey.value, isKeyRefused.value]).toEqual([false, true, isRefused]);
});
