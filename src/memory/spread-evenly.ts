/** At most so many of the values, evenly spread, in their order. */
export function spreadEvenly<T>(values: ArrayLike<T>, most: number): T[] {
  const count = Math.min(most, values.length);
  return Array.from({ length: count }, (_, at) => values[Math.floor((at * values.length) / count)]!);
}
