/** A value as a problem quotes it. */
export function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
