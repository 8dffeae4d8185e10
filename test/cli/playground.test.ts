import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PLACEMENT_KINDS } from '../../src/config/schema-placements.ts';
import { Furze, QUICK_FIT } from './run-furze.ts';
import { withoutNativeEngine } from './without-native-engine.ts';

/** Two starts, one of them with a load and a training on a shared machine. */
const TIMEOUT_MS = 600_000;

const parent = mkdtempSync(join(tmpdir(), 'furze-playground-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
const folder = join(parent, 'data');

const start = (env = {}) =>
  new Furze(['playground', '--data', folder, '--port', '0'], { ...QUICK_FIT, ...env });
const READY = /API page: (\S+)\/apidocs/;

describe('furze playground', () => {
  it(
    'does a load that was cut off again, shows the tour, and reuses the data at the next start, without its native engine',
    async () => {
      let cutOff: Furze;
      do {
        rmSync(folder, { recursive: true, force: true });
        cutOff = start();
        await cutOff.waitFor(/^users: 16,554 done$/m);
        await cutOff.stop('SIGKILL');
        // On a busy machine the kill may come too late.
      } while (/^ratings: 100,000 done$/m.test(cutOff.output));

      const first = start();
      const url = (await first.waitFor(READY))[1] as string;
      for (const stage of [
        'users: 16,554',
        'films: 10,506',
        'ratings: 100,000',
        'Training ALS',
        'Writing recommendations',
      ]) {
        expect(first.output).toMatch(new RegExp(`^${stage}.* done$`, 'm'));
      }
      const requests = Array.from(
        first.output.matchAll(/^ {2}curl '([^']+)'$/gm),
        ([, request]) => request as string,
      );
      expect(requests).toHaveLength(3);
      const answers = await Promise.all(requests.map(async (request) => (await fetch(request)).json()));
      for (const answer of answers) expect(answer).toHaveLength(5);

      const personal = requests.find((request) => request.startsWith(`${url}/api/recommend/`)) as string;
      const popular = requests.findIndex((request) => request.startsWith(`${url}/api/popular/`));
      const popularIds = (answers[popular] as { Id: string }[]).map(({ Id }) => Id);
      const own = answers[requests.indexOf(personal)] as string[];
      expect(own.filter((itemId) => popularIds.includes(itemId)).length).toBeLessThan(3);

      // A list of each kind of placement on the page of the user.
      const UserId = /#\/try\/(\w+)/.exec(first.output)![1]!;
      const kinds: Record<string, { Items: unknown[]; Seed?: string }> = {};
      for (const kind of PLACEMENT_KINDS) {
        const preview = `${url}/api/admin/placements/${kind}/preview?n=3`;
        const asked = { method: 'POST', body: JSON.stringify({ Users: [UserId] }) };
        const { Users } = (await (await fetch(preview, asked)).json()) as { Users: (typeof kinds)[string][] };
        kinds[kind] = Users[0]!;
      }
      const lengths = Object.entries(kinds).map(([kind, { Items }]) => [kind, Items.length]);
      const few = { continue: 2, again: 1 };
      expect(Object.fromEntries(lengths)).toEqual({
        ...Object.fromEntries(PLACEMENT_KINDS.map((kind) => [kind, 3])),
        ...few,
      });
      const seeds = Object.keys(kinds).filter((kind) => kinds[kind]!.Seed !== undefined);
      expect(seeds).toEqual(['because', 'similar', 'together']);
      expect(await first.stop('SIGINT')).toBe(0);

      // Where no native engine loads, it runs as well; and with counts of another window, as in another hour.
      const window = { FURZE_RECOMMEND_POPULAR_POPULAR_WINDOW: '130000h' };
      const second = start({ ...withoutNativeEngine(parent), ...window });
      const secondUrl = (await second.waitFor(READY))[1]!;
      expect(await (await fetch(`${secondUrl}/api/popular?n=3`)).json()).toHaveLength(3);
      expect(second.output).toContain('Using the sample');
      expect(second.output).not.toContain('users: 16,554 done');
      const same = second.output.match(/curl '[^']+\/api\/recommend\/([^']+)'/)?.[1];
      expect(personal).toContain(same);
      expect(await second.stop('SIGTERM')).toBe(0);
    },
    TIMEOUT_MS,
  );
});
