import { signal } from '@preact/signals';
import type { Summary } from '../domain/admin-schemas.ts';
import { ApiError, api } from './api.ts';

/** The state of the service, asked for every few seconds. */
export const summary = signal<Summary | undefined>(undefined);
export const summaryError = signal<string | undefined>(undefined);

export async function refreshSummary(): Promise<void> {
  try {
    summary.value = await api<Summary>('/api/admin/summary');
    summaryError.value = undefined;
  } catch (error) {
    const isSilence = error instanceof ApiError && error.status === 0;
    summaryError.value = isSilence ? undefined : (error as Error).message;
  }
}

/** Feedback type that a click on "like" writes. */
export interface Liking {
  readonly type: string;
  /** Of a type that is positive from a value on; 0 for any other. */
  readonly value: number;
}

/** The first kind of feedback that counts as positive; undefined where none does. */
export function liking(): Liking | undefined {
  return likings()[0];
}

/** The types of feedback that count as positive, without the value from which on. */
export function positiveTypes(): string[] {
  return likings().map(({ type }) => type);
}

function likings(): Liking[] {
  const positive = summary.value?.FeedbackTypes.filter(({ Positive }) => Positive) ?? [];
  return positive.map(({ Name: name }) => {
    const [, type = name, operator = '', threshold = '0'] = /^(.+?)(>=|<=|>|<)(-?[\d.]+)$/.exec(name) ?? [];
    const beyond = operator === '>' ? 1 : operator === '<' ? -1 : 0;
    return { type, value: Number(threshold) + beyond };
  });
}

/** The name of that feedback. */
export function likeType(): string | undefined {
  return liking()?.type;
}

/** True while the buttons of "Try it" store what they say; off at each visit. */
export const isStoring = signal(false);

/** Something that is done only once a person has agreed. */
export interface Question {
  readonly text: string;
  /** The button that agrees. */
  readonly yes: string;
  readonly act: () => Promise<void>;
}
export const question = signal<Question | undefined>(undefined);

/** Something that was done from here and can be undone. */
export interface Notice {
  readonly text: string;
  readonly undo?: () => Promise<void>;
}
export const notice = signal<Notice | undefined>(undefined);

/** The ids that a session is put together of. */
export const session = signal<readonly { readonly id: string; readonly title: string }[]>([]);

export function addToSession(id: string, title: string): void {
  if (session.value.some((entry) => entry.id === id)) return;
  session.value = [...session.value, { id, title }];
  notice.value = { text: `${title || id} is part of the session now.` };
}
