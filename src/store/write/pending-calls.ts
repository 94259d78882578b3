import type { StoredCall } from '../../call/call-record.ts'
import type { BatchEncoder, FilledBatch } from './record-batch.ts'

/** Most calls of a batch. */
const batchLimit = 1000

/**
 * Ended calls that wait to be written, in order and bounded: the oldest make way. They are encoded at once, as thousands
 * of records that outlive a collection of garbage cost more than all else that is done for them.
 */
export class PendingCalls {
  readonly #limit: number
  readonly #encoder: BatchEncoder
  /** The oldest first; none is empty. */
  readonly #batches: FilledBatch[] = []
  #size = 0

  constructor(limit: number, encoder: BatchEncoder) {
    this.#limit = limit
    this.#encoder = encoder
  }

  get size(): number {
    return this.#size
  }

  /** Adds a call; answers how many old calls were dropped. `elsewhere`: calls that count towards the limit, too. */
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

  /** The oldest, as one batch; `null` if none waits. */
  nextBatch(): FilledBatch | null {
    const batch = this.#batches.shift() ?? null
    this.#size -= batch?.size ?? 0
    return batch
  }

  /** Puts a batch back that could not be sent: its calls are the oldest again. */
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
