/** Most entries in memory. */
const mostEntries = 1000
/** Most characters of all entries. */
const mostCharacters = 128 * 1024
/** The default of the most characters of a key. */
const usualLongest = 1000

/**
 * Caches the results of a pure function for keys that repeat, such as header values. A full cache is cleared,
 * so that strangers cannot fill the memory. Keys of more than `longest` characters are not cached, because
 * they do not repeat.
 */
export function remembered<V>(
  compute: (key: string) => V,
  longest: number = usualLongest,
): (key: string) => V {
  const entries = new Map<string, V>()
  let characters = 0
  return (key) => {
    const cached = entries.get(key)
    if (cached !== undefined) return cached
    if (key.length > longest) return compute(key)
    if (entries.size >= mostEntries || characters > mostCharacters) {
      entries.clear()
      characters = 0
    }
    const copy = ownCopy(key)
    const value = compute(copy)
    entries.set(copy, value)
    characters += copy.length
    return value
  }
}

/** A copy of a text. A substring keeps the whole text in memory, so copy text that outlives its call. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
