/** Places of numbers by their size, equal ones as they come: by their low halves, then by their high ones (radix sort). */
export function ascendingPlaces(numbers: Uint32Array): Uint32Array {
  let places = new Uint32Array(numbers.length);
  for (let at = 0; at < places.length; at++) places[at] = at;
  for (const shift of [0, 16]) {
    const starts = new Uint32Array(2 ** 16 + 1);
    for (const number of numbers) starts[((number >>> shift) & 0xffff) + 1]!++;
    for (let digit = 1; digit < starts.length; digit++) starts[digit]! += starts[digit - 1]!;
    const sorted = new Uint32Array(places.length);
    for (const at of places) sorted[starts[(numbers[at]! >>> shift) & 0xffff]!++] = at;
    places = sorted;
  }
  return places;
}
