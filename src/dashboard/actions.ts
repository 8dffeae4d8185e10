import { api, pathOf } from './api.ts';
import { short } from './format.ts';
import { liking, notice } from './state.ts';

/** Hides an item from all recommendations, or shows it again; the notice takes it back. */
export async function setHidden(id: string, title: string, hidden: boolean, done: () => void): Promise<void> {
  const patch = (IsHidden: boolean) => api(pathOf(['api', 'item', id]), 'PATCH', { IsHidden });
  await attempt(async () => {
    await patch(hidden);
    notice.value = {
      text: `${short(title || id)} is ${hidden ? 'hidden' : 'shown again'}.`,
      undo: () =>
        attempt(async () => {
          await patch(!hidden);
          done();
        }),
    };
    done();
  });
}

/** Writes positive feedback in a user's name; the notice takes it back. */
export async function like(userId: string, id: string, title: string, done: () => void): Promise<void> {
  const wanted = liking();
  if (wanted === undefined) {
    notice.value = { text: 'No feedback type counts as positive; see the overview.' };
    return;
  }
  const { type, value } = wanted;
  await attempt(async () => {
    const record = { FeedbackType: type, UserId: userId, ItemId: id, Timestamp: '' };
    await api('/api/feedback', 'PUT', [value === 0 ? record : { ...record, Value: value }]);
    notice.value = {
      text: `${short(userId)}: ${type} of ${short(title || id)}.`,
      undo: () =>
        attempt(async () => {
          await api(pathOf(['api', 'feedback', type, userId, id]), 'DELETE');
          done();
        }),
    };
    done();
  });
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    notice.value = { text: (error as Error).message };
  }
}
