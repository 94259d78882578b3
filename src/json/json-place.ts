const bucketCount = 32

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
  readonly #buckets: WantedKey[][] = Array.from({ length: bucketCount }, () => [])

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

  /** As {@link member}, for a key that had to be unescaped. */
  memberNamed(text: string): JsonPlace | null {
    return this.#buckets.flat().find((key) => key.text === text)?.place ?? null
  }

  /** Adds the member if it is not there yet. */
  ensureMember(text: string): JsonPlace {
    const known = this.memberNamed(text)
    if (known !== null) return known
    const key = { text, bytes: Buffer.from(text), place: new JsonPlace() }
    const bucket = this.#buckets[(key.bytes.length + (key.bytes[0] ?? 0)) % bucketCount]
    bucket?.push(key)
    this.hasKeys = true
    this.longestKey = Math.max(this.longestKey, key.bytes.length)
    return key.place
  }
}

/** The tree for {@link JsonPeek}; its root stands for the whole text. Safe to share: peeking does not change it. */
export function compilePlaces(wanted: readonly WantedPlace[]): JsonPlace {
  const root = new JsonPlace()
  for (const { path, id, limit } of wanted) {
    let place = root
    for (const step of path.match(/\[\]|[^.[\]]+/g) ?? []) {
      place = step === '[]' ? (place.element ??= new JsonPlace()) : place.ensureMember(step)
    }
    place.id = id
    place.limit = limit
  }
  return root
}
