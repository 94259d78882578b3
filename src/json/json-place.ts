const bucketCount = 32
const backslash = 0x5c
/** Letters differ from their other case in this bit alone. */
const caseBit = 0x20

/** Which place is wanted, under which number it is reported, and how many bytes of it at most. */
export interface WantedPlace {
  /** Keys joined by dots, `[]` for every element of an array: `model`, `choices[].finish_reason`, `[].error`. */
  readonly path: string
  /** Chosen by the caller; several places may share one. */
  readonly id: number
  /** Longer values are reported as too long. */
  readonly limit: number
}

interface WantedKey {
  readonly text: string
  readonly bytes: Buffer
  readonly place: JsonPlace
}

/** A node in the tree of wanted places, compiled once by {@link compilePlaces}. */
export class JsonPlace {
  /** -1 where the place is only on the way to others. */
  id = -1
  limit = 0
  /** Where the elements are, if this place is wanted as an array. */
  element: JsonPlace | null = null
  /** Whether members are wanted, if this place is an object. */
  hasKeys = false
  longestKey = 0
  /** Reads as the most lenient parsers do: keys in any case (Go), `NaN` and `Infinity` (Python). */
  readonly isLenient: boolean
  readonly #buckets: WantedKey[][] = Array.from({ length: bucketCount }, () => [])
  readonly #keys: WantedKey[] = []
  readonly #byText = new Map<string, JsonPlace>()

  constructor(isLenient = false) {
    this.isLenient = isLenient
  }

  /** The place of the member whose key stands, unescaped, in these bytes. */
  member(bytes: Buffer, start: number, end: number): JsonPlace | null {
    const length = end - start
    const bucket = this.#buckets[(length + (bytes[start] ?? 0)) % bucketCount] ?? []
    for (const key of bucket) {
      const wanted = key.bytes
      if (wanted.length !== length) continue
      let i = 0
      while (i < length && wanted[i] === bytes[start + i]) i++
      if (i === length) return key.place
    }
    return null
  }

  /**
   * Whether a key that is not there byte by byte may be there all the same: with escapes, or in another case. Makes no
   * object, as most keys of most bodies come here.
   */
  mayBeMember(bytes: Buffer, start: number, end: number): boolean {
    for (let i = start; i < end; i++) {
      const byte = bytes[i] ?? 0
      if (byte === backslash || (byte >= 0x80 && this.isLenient)) return true
    }
    if (!this.isLenient) return false
    for (const { bytes: wanted } of this.#keys) {
      if (wanted.length !== end - start) continue
      let i = 0
      while (i < wanted.length && ((wanted[i] ?? 0) | caseBit) === ((bytes[start + i] ?? 0) | caseBit)) i++
      if (i === wanted.length) return true
    }
    return false
  }

  /** As {@link member}, for a key that had to be unescaped, or is in another case. */
  memberNamed(text: string): JsonPlace | null {
    return this.#byText.get(this.#folded(text)) ?? null
  }

  /** Both ways, as U+017F is an `s` only in upper case, and U+212A a `k` only in lower case. */
  #folded(text: string): string {
    return this.isLenient ? text.toUpperCase().toLowerCase() : text
  }

  /** Adds the member if it is not there yet. */
  ensureMember(text: string): JsonPlace {
    const known = this.memberNamed(text)
    if (known !== null) return known
    const key = { text, bytes: Buffer.from(text), place: new JsonPlace(this.isLenient) }
    const bucket = this.#buckets[(key.bytes.length + (key.bytes[0] ?? 0)) % bucketCount]
    bucket?.push(key)
    this.#keys.push(key)
    this.#byText.set(this.#folded(text), key.place)
    this.hasKeys = true
    this.longestKey = Math.max(this.longestKey, key.bytes.length)
    return key.place
  }
}

/** The tree for {@link JsonPeek}; its root stands for the whole text. Safe to share: peeking does not change it. */
export function compilePlaces(wanted: readonly WantedPlace[], isLenient = false): JsonPlace {
  const root = new JsonPlace(isLenient)
  for (const { path, id, limit } of wanted) {
    let place = root
    for (const step of path.match(/\[\]|[^.[\]]+/g) ?? []) {
      place = step === '[]' ? (place.element ??= new JsonPlace(isLenient)) : place.ensureMember(step)
    }
    place.id = id
    place.limit = limit
  }
  return root
}
