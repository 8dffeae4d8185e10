// npm run prove:shown -- --kills N: users see lists of a placement and react while the service is killed, again and again.
import type { Impression } from '../src/domain/api-schemas.ts';
import type { PlacementReport } from '../src/domain/placement-schemas.ts';
import { createRandom, type Random } from '../src/domain/random.ts';
import { isSplitWrong } from '../src/shown/statistics/compare-arms.ts';
import { FurzeProcess, pause } from './furze-process.ts';
import { runProof } from './run-proof.ts';

const CLIENTS = 8;
const ITEMS = 200;
const LIFE_MS_MIN = 300;
const LIFE_MS_SPREAD = 900;
const LIKE_SHARE = 0.4;
const DELETE_SHARE = 0.05;
const SETTINGS = {
  PLACEMENT: JSON.stringify({ home: { length: 6 } }),
  EXPERIMENT: JSON.stringify({
    sizes: {
      placement: 'home',
      variants: [
        { name: 'now', share: 0.5 },
        { name: 'short', share: 0.5, override: { length: 3 } },
      ],
    },
  }),
};

/** What was sent and what of it was acknowledged; an impression or a like is told by user and list. */
interface Ledger {
  readonly sent: Set<string>;
  readonly acknowledged: Set<string>;
  /** Users of whom a deletion was acknowledged, and those of whom one was sent. */
  readonly deleted: Set<string>;
  readonly perhapsDeleted: Set<string>;
}

await runProof('kills', 20, async ({ amount, seed, folder }) => {
  const random = createRandom(seed);
  const ledger: Ledger = {
    ...{ sent: new Set(), acknowledged: new Set(), deleted: new Set(), perhapsDeleted: new Set() },
  };
  const first = await FurzeProcess.serve(folder, SETTINGS);
  const items = Array.from({ length: ITEMS }, (_, at) => ({ ItemId: `i${at}`, Timestamp: '2026-01-01' }));
  await post(first.url, '/api/items', items);
  await first.stop();
  for (let kill = 0; kill < amount; kill++) {
    const furze = await FurzeProcess.serve(folder, SETTINGS);
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      useUntilKilled(furze, `${kill}-${client}`, random, ledger),
    );
    await pause(LIFE_MS_MIN + random.below(LIFE_MS_SPREAD));
    await furze.stop('SIGKILL');
    await Promise.all(clients);
  }
  const furze = await FurzeProcess.serve(folder, SETTINGS);
  const faults = await findFaults(furze, ledger);
  await furze.stop();
  for (const fault of faults.slice(0, 20)) console.log(fault);
  const { acknowledged, deleted } = ledger;
  return {
    line: `${amount} kills, ${acknowledged.size} acknowledged impressions and likes, ${deleted.size} deleted users; ${faults.length} faults`,
    holds: faults.length === 0 && acknowledged.size > amount,
  };
});

/** One client's users, one after the other: each sees a list, some like an item of it, a few are deleted. */
async function useUntilKilled(
  furze: FurzeProcess,
  name: string,
  random: Random,
  ledger: Ledger,
): Promise<void> {
  for (let at = 0; !furze.hasEnded; at++) {
    const UserId = `u${name}-${at}`;
    try {
      const answer = await fetch(`${furze.url}/api/recommend/${UserId}?placement=home`);
      const Recommendation = answer.headers.get('X-Furze-Recommendation')!;
      const Items = (await answer.json()) as string[];
      await note(ledger, `${UserId} saw ${Items.join()}`, () =>
        post(furze.url, '/api/impressions', [{ UserId, Recommendation, Items }]),
      );
      if (random.float() < LIKE_SHARE) {
        const ItemId = Items[random.below(Items.length)]!;
        const like = { FeedbackType: 'like', UserId, ItemId, Timestamp: '', Recommendation };
        await note(ledger, `${UserId} liked ${ItemId}`, () => post(furze.url, '/api/feedback', [like]));
      }
      if (random.float() >= DELETE_SHARE) continue;
      ledger.perhapsDeleted.add(UserId);
      const gone = await fetch(`${furze.url}/api/user/${UserId}`, { method: 'DELETE' });
      if (gone.ok) ledger.deleted.add(UserId);
    } catch {
      // It was killed: the next look at it ends this.
      await pause(10);
    }
  }
}

async function note(
  { sent, acknowledged }: Ledger,
  event: string,
  send: () => Promise<boolean>,
): Promise<void> {
  sent.add(event);
  if (await send()) acknowledged.add(event);
}

async function post(url: string, path: string, body: unknown): Promise<boolean> {
  const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer.ok;
}

async function findFaults(furze: FurzeProcess, ledger: Ledger): Promise<string[]> {
  const get = async <T>(path: string) => (await (await fetch(furze.url + path)).json()) as T;
  const kept = await get<Impression[]>('/api/impressions');
  const faults: string[] = [];
  const events = kept.map(({ UserId, Items, FeedbackType }) =>
    FeedbackType === undefined ? `${UserId} saw ${Items.join()}` : `${UserId} liked ${Items.join()}`,
  );
  const known = new Set(events);
  if (known.size < events.length) faults.push('something is kept twice');
  for (const event of known) if (!ledger.sent.has(event)) faults.push(`kept and never sent: ${event}`);
  for (const { UserId } of kept) if (ledger.deleted.has(UserId)) faults.push(`deleted and kept: ${UserId}`);
  for (const event of ledger.acknowledged)
    if (!known.has(event) && !ledger.perhapsDeleted.has(event.split(' ')[0]!)) faults.push(`lost: ${event}`);

  const { Placements, Experiments } = await get<PlacementReport>('/api/admin/placements');
  for (const { Variant, Lists, Users, Shown, Clicked, Named, InWindow } of Placements) {
    const own = kept.filter((each) => each.Variant === Variant);
    const seen = own.filter(({ FeedbackType }) => FeedbackType === undefined);
    const named = own.filter(({ FeedbackType }) => FeedbackType !== undefined);
    const expected = [
      new Set(own.map(({ UserId }) => UserId)).size,
      seen.reduce((sum, { Items }) => sum + Items.length, 0),
      named.length,
    ];
    const told = [Users, Shown, Named];
    // A like that was stored when the service was killed, before it was noted of which list it came, counts by the window.
    if (String(told) !== String(expected) || Lists !== Users || Clicked !== Named + InWindow)
      faults.push(`${Variant}: told ${told}, ${Lists} lists, ${Clicked} clicked; kept ${expected}`);
  }
  const users = Experiments[0]!.Variants.map(({ Seen }) => Seen);
  if (isSplitWrong(users, [0.5, 0.5])) faults.push(`users are split ${users}`);
  return faults;
}
