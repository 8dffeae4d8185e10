import { pathOf } from '../api.ts';
import { addToSession, likeType, session } from '../state.ts';
import { usePosted } from '../use-posted.ts';
import { Card, State } from './common.tsx';
import { ItemPicker } from './item-picker.tsx';
import { ItemScores, type ScoredItem } from './item-scores.tsx';

const SHOWN = 10;

/** A session put together by clicking items: what is recommended to somebody who is not known. */
export function SessionCard() {
  const items = session.value;
  const FeedbackType = likeType() ?? 'like';
  const body = items.map(({ id }) => ({ FeedbackType, ItemId: id, UserId: '', Timestamp: '' }));
  const path = pathOf(['api', 'admin', 'session'], { n: SHOWN });
  const isAny = items.length > 0;
  const { data: entries, error } = usePosted<readonly ScoredItem[]>(
    path,
    isAny ? JSON.stringify(body) : undefined,
  );
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
          {!isAny && <p class="muted">Choose an item first.</p>}
          {isAny && entries !== undefined && (
            <ItemScores label="Recommended to the session" items={entries} none="Nothing is like these." />
          )}
        </div>
      </div>
    </Card>
  );
}
