/** Returns the value of a key. Without a value, `make` makes one, and the map keeps it. */
export function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const value = make()
  map.set(key, value)
  return value
}
