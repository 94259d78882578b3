import { whereWhole } from './payload-line.ts'

/** Three numbers of 8 bytes each: call id, offset, length with the line break. */
export const entryBytes = 24
const numbersPerEntry = 3

/** Where the record of a call lies in its segment. */
export interface IndexEntry {
  readonly callId: number
  readonly offset: number
  /** With its line break. */
  readonly length: number
}

/** A range of a segment that no entry speaks of. */
export interface Gap {
  readonly start: number
  readonly end: number
}

export function encodeEntries(entries: readonly IndexEntry[]): Buffer {
  const numbers = new Float64Array(entries.length * numbersPerEntry)
  for (const [at, { callId, offset, length }] of entries.entries()) {
    numbers.set([callId, offset, length], at * numbersPerEntry)
  }
  return Buffer.from(numbers.buffer)
}

/** Marks an index as one, and says whose it is: the first entry of every index. */
export function headerEntry(fileNumber: number): IndexEntry {
  return { callId: -1, offset: fileNumber, length: entryBytes }
}

/**
 * What the side index of a segment says. It is a help and no truth: it may be short, of another file, or hold
 * entries of what was cleared since; whoever follows an entry looks whether the record is there.
 */
export class SegmentIndex {
  readonly #numbers: Float64Array
  /** Of the segment that it was made for; null where it is no index. */
  readonly fileNumber: number | null
  /** Whether it ends with a whole entry. */
  readonly isEven: boolean

  /** `bytes` begin their buffer, or are aligned in it to 8. What ends in the middle of an entry ends before it. */
  constructor(bytes: Uint8Array) {
    const entries = Math.floor(bytes.length / entryBytes)
    const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, entries * numbersPerEntry)
    this.isEven = bytes.length % entryBytes === 0
    const isIndex = numbers[0] === -1 && numbers[2] === entryBytes
    this.fileNumber = isIndex ? (numbers[1] ?? null) : null
    this.#numbers = isIndex ? numbers.subarray(numbersPerEntry) : numbers.subarray(0, 0)
  }

  /** Of all that is said of a segment of this size; null where it cannot be true, as two records share a byte. */
  gaps(segmentBytes: number): { readonly count: number; readonly gaps: readonly Gap[] } | null {
    const places = this.#inOrder(segmentBytes)
    const gaps: Gap[] = []
    let end = 0
    for (let at = 0; at < places.length; at += 2) {
      const start = places[at] ?? 0
      if (start < end) return null
      if (start > end) gaps.push({ start: end, end: start })
      end = start + (places[at + 1] ?? 0)
    }
    if (end < segmentBytes) gaps.push({ start: end, end: segmentBytes })
    return { count: places.length / 2, gaps }
  }

  /** In the order in which they were written. */
  entriesOf(callId: number): IndexEntry[] {
    const found: IndexEntry[] = []
    const numbers = this.#numbers
    for (let at = 0; at < numbers.length; at += numbersPerEntry) {
      if (numbers[at] === callId) found.push(this.#entry(at))
    }
    return found
  }

  /** A few from all over it, by which can be seen whether it is true. */
  samples(segmentBytes: number): IndexEntry[] {
    const count = this.#numbers.length / numbersPerEntry
    const picked = new Set([0, Math.floor(count / 3), Math.floor((count * 2) / 3), count - 1])
    return [...picked]
      .filter((at) => at >= 0 && at < count)
      .map((at) => this.#entry(at * numbersPerEntry))
      .filter(({ offset, length }) => isPlace(offset, length, segmentBytes))
  }

  #entry(at: number): IndexEntry {
    const [callId = 0, offset = 0, length = 0] = this.#numbers.subarray(at, at + numbersPerEntry)
    return { callId, offset, length }
  }

  /** Offset, length, offset, length … by offset, without what lies beyond the segment's end. */
  #inOrder(segmentBytes: number): Float64Array {
    const numbers = this.#numbers
    const places = new Float64Array((numbers.length / numbersPerEntry) * 2)
    let used = 0
    let isSorted = true
    let last = -1
    for (let at = 0; at < numbers.length; at += numbersPerEntry) {
      const offset = numbers[at + 1] ?? 0
      const length = numbers[at + 2] ?? 0
      if (!isPlace(offset, length, segmentBytes)) continue
      isSorted &&= offset > last
      last = offset
      places[used++] = offset
      places[used++] = length
    }
    const kept = places.subarray(0, used)
    return isSorted ? kept : sorted(kept)
  }
}

/** The records of the range of a segment that `bytes` are, which begin with a line, as index entries. */
export function entriesIn(bytes: Uint8Array, offset: number): IndexEntry[] {
  return [...whereWhole(bytes)].map(({ start, end, callId }) => ({
    callId,
    offset: offset + start,
    length: end + 1 - start,
  }))
}

function isPlace(offset: number, length: number, segmentBytes: number): boolean {
  return offset >= 0 && length > 0 && offset + length <= segmentBytes && Number.isInteger(offset + length)
}

/** Two processes that append to one file note their records in another order than they lie. */
function sorted(places: Float64Array): Float64Array {
  const order = Array.from({ length: places.length / 2 }, (_, at) => at * 2)
  order.sort((one, other) => (places[one] ?? 0) - (places[other] ?? 0))
  return Float64Array.from(order.flatMap((at) => [places[at] ?? 0, places[at + 1] ?? 0]))
}
