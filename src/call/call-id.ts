/**
 * A call's id is a 53-bit integer, so that it fits a JavaScript number and SQLite's rowid alike:
 * 41 bits of milliseconds since the Unix epoch (good until 2039), 5 bits of the instance's number, 1 bit that flips
 * when the clock is set back, 6 bits of counter. Its order is the order of arrival, which makes it the time
 * index and the cursor. People and headers see it as 11 characters of Crockford's base32, in the same order.
 */

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
const textLength = 11
/** Ids per millisecond, over all instances: the factor between milliseconds and ids. */
export const idsPerMs = 4096
/** Most gateways that can make ids for one database at the same time. */
export const instanceNumbers = 32
const counterLimit = 64
/** The same of gateways that share a database on several machines: with one bit less for the counter, 64. */
const sharedCounterLimit = 32
/** A clock that steps back by less than this is waited out by holding the last millisecond. */
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

/** The lowest id that a call of this instant can have. */
export function firstIdAt(wallTimeMs: number): number {
  return wallTimeMs * idsPerMs
}

/** An imported call has an id as the last of the instances would give it, which hardly ever runs: none of a gateway's. */
export const importedPerMs: number = 2 * counterLimit

/** The id of an imported call of this instant; `hash` spreads those of one millisecond. */
export function importedIdAt(wallTimeMs: number, hash: number): number {
  return (wallTimeMs + 1) * idsPerMs - importedPerMs + (hash % importedPerMs)
}

/** Milliseconds since the Unix epoch at which the call's head was received. */
export function startedAtMs(id: number): number {
  return Math.floor(id / idsPerMs)
}

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
