import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { HOUR_MS, record, type Scene, SECOND_MS, START_MS, startScene } from './scene.ts';

const TASTES = 10;
const ITEMS = 4000;
const USERS = 200;
/** Hours in which all likes come. */
const HOURS = 24 * 60;

/** Users like items of their taste alone, by their numbers; one account likes most of what there is. */
async function fillTastes({ send }: Scene): Promise<void> {
  const random = createRandom(3);
  const at = () => new Date(START_MS - random.float() * HOURS * HOUR_MS).toISOString();
  const records: ReturnType<typeof record>[] = [];
  for (let item = 0; item < ITEMS; item++)
    if (random.float() < 0.9) records.push(record('like', 'crawler', `i${item}`, at()));
  for (let user = 0; user < USERS; user++) {
    for (let like = 0; like < 8 + (user % 3) * 6; like++) {
      const item = random.below(ITEMS / TASTES) * TASTES + (user % TASTES);
      records.push(record('like', `u${user}`, `i${item}`, at()));
    }
  }
  for (let from = 0; from < records.length; from += 1000)
    await send('POST', '/api/feedback', records.slice(from, from + 1000));
}

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ collaborative: { factors: 16, epochs: 20 } });
  await fillTastes(scene);
  scene.time.nowMs += SECOND_MS;
  await scene.server.service.fit();
}, 300_000);
afterAll(() => scene.server.stop());

it('an account that likes nearly everything does not tell how the lists of others are ranked', async () => {
  let own = 0;
  let all = 0;
  for (let user = 0; user < USERS; user++) {
    for (const id of await scene.ids(`/api/recommend/u${user}?n=10`)) {
      all++;
      if (Number(id.slice(1)) % TASTES === user % TASTES) own++;
    }
  }
  expect(all).toBe(10 * USERS);
  expect(own / all).toBeGreaterThan(0.95);
});
