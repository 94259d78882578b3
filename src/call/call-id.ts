/**
 * A call's id is a 53-bit integer, which fits a JavaScript number and SQLite's rowid. From the highest bit on, an
 * id has four parts.
 * - 41 bits are milliseconds since the Unix epoch (until 2039).
 * - 5 bits are the number of the instance.
 * - 1 bit flips when the clock is set back.
 * - 6 bits are a counter.
 * Ids rise in the order of arrival, so they are the time index and the cursor. People and headers see an id as 11
 * characters of Crockford's base32, in the same order.
 */

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
/** Characters of an id as text. */
const textLength = 11
/** Ids per millisecond, over all instances: the factor between milliseconds and ids. */
export const idsPerMs = 4096
/** Most gateways that can make ids for one database at the same time. */
export const instanceNumbers = 32
const counterLimit = 64
/** The counter's limit for gateways that share: one bit of the counter allows 64 instance numbers instead of 32. */
const sharedCounterLimit = 32
/** After a smaller step back of the clock, ids keep the last millisecond until the clock has caught up. */
const toleratedStepMs = 1000

/** Hands out ids that rise within one process, unless the clock is set back by over a second. */
export class CallIds {
  readonly #wallTime: () => number
  readonly #counterLimit: number
  #instanceNumber: number
  #lastMs = 0
  #counter = 0
  #clockBit = 0

  /** `instanceNumber`, below {@link instanceNumbers}: two gateways that write to one database must not share one. */
  constructor(wallTime: () => number, instanceNumber: number, { isShared = false } = {}) {
    this.#wallTime = wallTime
    this.#counterLimit = isShared ? sharedCounterLimit : counterLimit
    this.#instanceNumber = this.#inRange(instanceNumber)
  }

  /** Ids carry another instance number from now on. */
  renumber(instanceNumber: number): void {
    this.#instanceNumber = this.#inRange(instanceNumber)
  }

  next(): number {
    const nowMs = this.#wallTime()
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs
      this.#counter = 0
    } else if (this.#lastMs - nowMs > toleratedStepMs) {
      this.#lastMs = nowMs
      this.#counter = 0
      this.#clockBit ^= 1
    } else if (++this.#counter === this.#counterLimit) {
      this.#lastMs += 1
      this.#counter = 0
    }
    const low = (this.#instanceNumber * 2 + this.#clockBit) * this.#counterLimit + this.#counter
    return this.#lastMs * idsPerMs + low
  }

  #inRange(instanceNumber: number): number {
    return instanceNumber & (idsPerMs / 2 / this.#counterLimit - 1)
  }
}

/** The lowest id of a call that began at `wallTimeMs` (Unix time). */
export function firstIdAt(wallTimeMs: number): number {
  return wallTimeMs * idsPerMs
}

/** Ids per millisecond for imported calls: those of the highest instance number, which a gateway hardly ever has. */
export const importedPerMs: number = 2 * counterLimit

/** The id of an imported call that began at `wallTimeMs` (Unix time). `hash` spreads the calls of one millisecond. */
export function importedIdAt(wallTimeMs: number, hash: number): number {
  return (wallTimeMs + 1) * idsPerMs - importedPerMs + (hash % importedPerMs)
}

/** Milliseconds since the Unix epoch at which the call's head was received. */
export function startedAtMs(id: number): number {
  return Math.floor(id / idsPerMs)
}

/** The id as people see it: 11 characters of Crockford's base32. */
export function formatCallId(id: number): string {
  // Two halves of at most 30 bits, so that integer arithmetic works.
  const high = Math.floor(id / 2 ** 30)
  return halfText(high, textLength - 6) + halfText(id - high * 2 ** 30, 6)
}

function halfText(half: number, length: number): string {
  let text = ''
  for (let shift = (length - 1) * 5; shift >= 0; shift -= 5) text += digits.charAt((half >> shift) & 31)
  return text
}

/** The id in a text, or `null` if it is not one. */
export function parseCallId(text: string): number | null {
  if (text.length !== textLength) return null
  let id = 0
  for (const character of text) {
    const digit = digits.indexOf(character)
    if (digit < 0) return null
    id = id * 32 + digit
  }
  return Number.isSafeInteger(id) ? id : null
}
