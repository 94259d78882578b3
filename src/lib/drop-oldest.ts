/** Drops the oldest entries of a map beyond `most`, in the order of insertion. */
export function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
