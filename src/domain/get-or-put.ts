/** The value of a key, which is made and put in where there is none yet. */
export function getOrPut<Key, Value>(map: Mapped<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A map, weak or not. */
interface Mapped<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}
