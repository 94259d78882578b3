const mostEntries = 1000

/**
 * A pure function that remembers its answers for keys that repeat, such as header values. Bounded: when full it
 * forgets everything, which costs a little once in a while and never more memory than a thousand entries. Keys of more
 * than `longest` characters are not remembered: they do not repeat.
 */
export function remembered<V>(
  compute: (key: string) => V,
  longest = Number.POSITIVE_INFINITY,
): (key: string) => V {
  const entries = new Map<string, V>()
  return (key) => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const value = compute(key)
    if (key.length > longest) return value
    if (entries.size >= mostEntries) entries.clear()
    entries.set(key, value)
    return value
  }
}
