import type { StoredCall } from '../../call/call-record.ts'
import type { BatchEncoder, FilledBatch } from './record-batch.ts'

/** Most calls of a batch. */
const batchLimit = 1000

/**
 * Ended calls that wait to be written, in order. If they are too many, the oldest are dropped. Calls are encoded at
 * once, because thousands of records in memory would keep the garbage collector busy.
 */
export class PendingCalls {
  readonly #limit: number
  readonly #encoder: BatchEncoder
  /** Batches, the oldest first; none is empty. */
  readonly #batches: FilledBatch[] = []
  #size = 0

  constructor(limit: number, encoder: BatchEncoder) {
    this.#limit = limit
    this.#encoder = encoder
  }

  get size(): number {
    return this.#size
  }

  /** Adds a call, and returns the number of dropped old calls. `elsewhere`: other calls that count towards the limit. */
  add(call: StoredCall, elsewhere: number): number {
    let batch = this.#batches.at(-1)
    if (batch === undefined || batch.size >= batchLimit) {
      batch = this.#encoder.begin()
      this.#batches.push(batch)
    }
    batch.add(call)
    this.#size++
    let dropped = 0
    for (; this.#size > 0 && this.#size + elsewhere > this.#limit; dropped++) this.#giveUpOldest()
    return dropped
  }

  /** The oldest calls as one batch; `null` if none wait. */
  nextBatch(): FilledBatch | null {
    const batch = this.#batches.shift() ?? null
    this.#size -= batch?.size ?? 0
    return batch
  }

  /** Puts an unsent batch back, before all others. */
  putBack(batch: FilledBatch): void {
    this.#batches.unshift(batch)
    this.#size += batch.size
  }

  clear(): void {
    this.#batches.length = 0
    this.#size = 0
  }

  #giveUpOldest(): void {
    const [batch] = this.#batches
    batch?.giveUpOldest()
    this.#size--
    if (batch?.size === 0) this.#batches.shift()
  }
}
