/** Reasons for an item in a list, by what it comes from. */
const REASONS: Readonly<Record<string, string>> = {
  personal: 'the user is likely to like it',
  sequence: 'people go on to it after such items',
  pins: 'staff put it here',
  because: 'it is like an item that the user liked',
  similar: 'it is like the item',
  together: 'it is often bought together with the item',
  trending: 'it is liked more than before',
  continue: 'the user has begun it',
  again: 'the user buys it again and again',
  popular: 'many like it now',
  latest: 'it is new',
  collaborative: 'users of the same taste like it',
  item_based: 'it is like items that the user likes',
  user_based: 'users who like the same like it',
};

/** A reason in words, for people who look after a page. @param source as `sourceOf` names it */
export function reasonOf(source: string): string {
  return REASONS[source] ?? REASONS.personal!;
}
