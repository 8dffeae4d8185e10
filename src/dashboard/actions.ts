import { api, pathOf } from './api.ts';
import { short } from './format.ts';
import { liking, notice, question } from './state.ts';

/** Hides an item from all recommendations once that is agreed to, or shows it again; the notice takes it back. */
export function setHidden(id: string, title: string, hidden: boolean, done: () => void): void {
  const patch = (IsHidden: boolean) => api(pathOf(['api', 'item', id]), 'PATCH', { IsHidden });
  const name = short(title || id);
  const act = () =>
    attempt(async () => {
      await patch(hidden);
      notice.value = {
        text: `${name} is ${hidden ? 'hidden' : 'shown again'}.`,
        undo: () =>
          attempt(async () => {
            await patch(!hidden);
            done();
          }),
      };
      done();
    });
  if (hidden) question.value = { text: `Hide ${name} from all recommendations?`, yes: 'Hide it', act };
  else void act();
}

/** Stores positive feedback in a user's name once that is agreed to; the notice takes it back. */
export function like(userId: string, id: string, title: string, done: () => void): void {
  const wanted = liking();
  if (wanted === undefined) {
    notice.value = { text: 'No feedback type counts as positive; see the overview.' };
    return;
  }
  const { type, value } = wanted;
  const record = { FeedbackType: type, UserId: userId, ItemId: id, Timestamp: '' };
  const act = () =>
    attempt(async () => {
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
  const text = `Store a ${type} of ${short(title || id)} for ${short(userId)}? It counts as real feedback.`;
  question.value = { text, yes: 'Store it', act };
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    notice.value = { text: (error as Error).message };
  }
}
