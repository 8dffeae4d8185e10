import type { Kind, Mapping, TimeUnit } from './columns.ts';

/** How rows become records. */
export interface Plan {
  readonly kind: Kind;
  readonly mapping: Mapping;
  readonly timeUnit: TimeUnit | undefined;
  /** The type of feedback where no column has one. */
  readonly type: string;
  /** A rating from here on is of `type`, a lower one of `lowType`; undefined where ratings do not matter. */
  readonly ratingMin: number | undefined;
  readonly lowType: string;
  /** What stands between labels or categories in one cell. */
  readonly separator: string;
}

export type Row = readonly string[];
export type Made = { readonly record: object } | { readonly refusal: string };

/** The record of a row, or why it is none. */
export function recordOf(row: Row, plan: Plan): Made {
  const text = (field: string) => {
    const at = plan.mapping[field];
    return at === undefined ? '' : (row[at] ?? '').trim();
  };
  const UserId = text('UserId');
  const ItemId = text('ItemId');
  if (plan.kind !== 'items' && UserId === '') return { refusal: 'the user id is empty' };
  if (plan.kind !== 'users' && ItemId === '') return { refusal: 'the item id is empty' };
  if (ItemId.includes('/')) return { refusal: 'the item id holds a slash' };
  const Timestamp = timestampOf(text('Timestamp'), plan.timeUnit);
  if (Timestamp === undefined) return { refusal: `${JSON.stringify(text('Timestamp'))} is no time` };
  const names = (field: string) =>
    text(field)
      .split(plan.separator)
      .map((name) => name.trim())
      .filter((name) => name !== '' && name !== '(no genres listed)');
  const Comment = text('Comment');
  if (plan.kind === 'users') return { record: { UserId, Labels: names('Labels'), Comment } };
  if (plan.kind === 'items') {
    const IsHidden = /^(true|1|yes)$/i.test(text('IsHidden'));
    const Categories = names('Categories');
    return { record: { ItemId, IsHidden, Categories, Timestamp, Labels: names('Labels'), Comment } };
  }
  const FeedbackType = typeOf(text('FeedbackType'), text('Rating'), plan);
  if (FeedbackType === undefined) return { refusal: `${JSON.stringify(text('Rating'))} is no rating` };
  return { record: { FeedbackType, UserId, ItemId, Timestamp, Comment } };
}

function typeOf(type: string, rating: string, { ratingMin, type: given, lowType }: Plan): string | undefined {
  if (type !== '') return type;
  if (ratingMin === undefined || rating === '') return given;
  const value = Number(rating);
  if (!Number.isFinite(value)) return undefined;
  return value >= ratingMin ? given : lowType;
}

function timestampOf(text: string, unit: TimeUnit | undefined): string | undefined {
  if (text === '' || unit === undefined) return '';
  if (unit === 'date') return text;
  const ms = Number(text) * (unit === 'seconds' ? 1000 : 1);
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return undefined;
  return new Date(ms).toISOString();
}
