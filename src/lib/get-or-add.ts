/** The value of a key; if there is none, `make` makes it, and the map keeps it. */
export function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const value = make()
  map.set(key, value)
  return value
}
