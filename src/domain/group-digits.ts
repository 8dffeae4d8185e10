/**
 * A whole number as people read it: 1,234,567. The thread that serves has no time for `toLocaleString`, the first call of
 * which loads the tables of all languages and takes tens of milliseconds.
 */
export function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
