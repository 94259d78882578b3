/** Drops the oldest entries of a map beyond `most`: those that were set first. */
export function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
