/** At most so many of the values, evenly spread, in their order. @param behind takes, of each, the one so many places behind it */
export function spreadEvenly<T>(values: ArrayLike<T>, most: number, behind = 0): T[] {
  const { length } = values;
  const count = Math.min(most, length);
  const placeOf = (at: number) => (Math.floor((at * length) / count) + behind) % length;
  return Array.from({ length: count }, (_, at) => values[placeOf(at)]!);
}
