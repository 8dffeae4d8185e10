/**
 * A whole number as people read it: 1,234,567. The thread that serves has no time for `toLocaleString`, the first call of
 * which loads the tables of all languages and takes tens of milliseconds.
 */
export function groupDigits(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * A number with what is counted: `1 user`, `1,234 users`, `1 feedback`.
 * @param plural a noun whose singular has no `s` at its end, or one that has no plural
 */
export function counted(value: number, plural: string): string {
  return `${groupDigits(value)} ${value === 1 ? plural.replace(/s$/, '') : plural}`;
}

/** Users, items and feedback in a line. */
export function countedRecords(counts: Readonly<Record<'users' | 'items' | 'feedback', number>>): string {
  return [
    counted(counts.users, 'users'),
    counted(counts.items, 'items'),
    counted(counts.feedback, 'feedback'),
  ].join(', ');
}
