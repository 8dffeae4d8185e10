/**
 * The fields of users and items beside their ids. A field that is listed here is checked in bodies, stored, answered,
 * exported, imported and described in the OpenAPI document.
 */
import type { Json } from './labels.ts';

/** Values of each kind of field, as stored. `time` is RFC 3339 UTC, or `""` for none. */
interface Values {
  readonly flag: boolean;
  readonly texts: readonly string[];
  readonly labels: readonly string[];
  readonly time: string;
  readonly text: string;
}

/** Values of each kind of field in a request; `null` stands for one that is not given. */
export interface GivenValues {
  readonly flag: boolean | null;
  readonly texts: readonly string[] | null;
  readonly labels: Json;
  readonly time: string | null;
  readonly text: string | null;
}

export type FieldKind = keyof Values;
export type Fields = Readonly<Record<string, { readonly kind: FieldKind; readonly description: string }>>;

/** A record of the fields, as stored. */
export type Stored<F extends Fields> = { readonly [Name in keyof F]: Values[F[Name]['kind']] };

/** In the order of answers and exports. Those of one kind are stored in this order: add at the end of a kind. */
export const ITEM_FIELDS = {
  IsHidden: { kind: 'flag', description: 'True keeps the item out of recommendations' },
  Categories: { kind: 'texts', description: 'The categories whose lists the item is in too' },
  Timestamp: { kind: 'time', description: 'When the item appeared' },
  Labels: { kind: 'labels', description: 'Describe the item to the recommenders' },
  Comment: { kind: 'text', description: 'Free text' },
} as const satisfies Fields;

export const USER_FIELDS = {
  Labels: { kind: 'labels', description: 'Describe the user' },
  Comment: { kind: 'text', description: 'Free text' },
  Subscribe: { kind: 'texts', description: 'What the user subscribes to' },
} as const satisfies Fields;

const EMPTY: Values = { flag: false, texts: [], labels: [], time: '', text: '' };

/** An item, or a user, of which no more is known than its id. */
export const EMPTY_ITEM = emptyRecord(ITEM_FIELDS);
export const EMPTY_USER = emptyRecord(USER_FIELDS);

/** Names of the fields of these kinds, in their order. */
export function namesOfKind<F extends Fields, Kind extends FieldKind>(
  fields: F,
  ...kinds: readonly Kind[]
): (string & { [Name in keyof F]: F[Name]['kind'] extends Kind ? Name : never }[keyof F])[] {
  return Object.keys(fields).filter((name) =>
    (kinds as readonly FieldKind[]).includes(fields[name]!.kind),
  ) as never;
}

function emptyRecord<F extends Fields>(fields: F): Stored<F> {
  const entries = Object.entries(fields).map(([name, { kind }]) => [name, EMPTY[kind]]);
  return Object.freeze(Object.fromEntries(entries)) as Stored<F>;
}
