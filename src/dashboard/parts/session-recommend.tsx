import { useEffect, useState } from 'preact/hooks';
import { api, pathOf } from '../api.ts';
import { addToSession, likeType, session } from '../state.ts';
import { Card, State } from './common.tsx';
import { ItemPicker } from './item-picker.tsx';
import { ItemScores, type ScoredItem } from './item-scores.tsx';

interface Entry {
  readonly Id: string;
  readonly Score: number;
}

/** A session put together by clicking items: what is recommended to somebody who is not known. */
export function SessionCard() {
  const items = session.value;
  const [entries, setEntries] = useState<readonly ScoredItem[]>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let current = true;
    recommend(items.map(({ id }) => id)).then(
      (found) => current && setEntries(found),
      (problem: Error) => current && setError(problem.message),
    );
    return () => {
      current = false;
    };
  }, [items]);
  const remove = (id: string) => {
    session.value = items.filter((entry) => entry.id !== id);
  };
  return (
    <Card wide title="A session">
      <p class="muted">Put items together, here or with the buttons beside them; nothing is stored.</p>
      <p class="suggestions">
        {items.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            class="chip chosen"
            aria-label={`Remove ${title || id} from the session`}
            onClick={() => remove(id)}
          >
            {title || id} ×
          </button>
        ))}
      </p>
      <div class="cards even">
        <div>
          <ItemPicker label="Title or id of an item" choose={addToSession} listsAll />
        </div>
        <div>
          <h3>Recommended to the session</h3>
          <State error={error} loading={false} />
          {items.length === 0 && <p class="muted">Choose an item first.</p>}
          {items.length > 0 && entries !== undefined && (
            <ItemScores label="Recommended to the session" items={entries} none="Nothing is like these." />
          )}
        </div>
      </div>
    </Card>
  );
}

async function recommend(ids: readonly string[]): Promise<readonly ScoredItem[]> {
  if (ids.length === 0) return [];
  const FeedbackType = likeType() ?? 'like';
  const body = ids.map((ItemId) => ({ FeedbackType, ItemId, UserId: '', Timestamp: '' }));
  const entries = await api<readonly Entry[]>('/api/session/recommend?n=10', 'POST', body);
  return Promise.all(
    entries.map(async (entry) => {
      // One that was deleted meanwhile has no title.
      const item = await api<{ Comment: string }>(pathOf(['api', 'item', entry.Id])).catch(() => undefined);
      return { ...entry, Title: item?.Comment ?? '' };
    }),
  );
}
