import type { PayloadRecord } from '../../api/raw-log.ts'

/** Beyond these the oldest are let go: they belong to calls that run very long, or whose answer was missed. */
const limits = { count: 10_000, length: 32 * 1024 * 1024 } as const

/** A request, parsed and as it came. */
export interface HeldRequest {
  readonly record: PayloadRecord
  readonly data: string
}

/** Requests that wait for their answers. */
export class HeldRequests {
  readonly #held = new Map<string, HeldRequest>()
  #length = 0

  add(record: PayloadRecord, data: string): void {
    this.take(record.id)
    this.#held.set(record.id, { record, data })
    this.#length += data.length
    for (const id of this.#held.keys()) {
      if (this.#held.size <= limits.count && this.#length <= limits.length) break
      this.take(id)
    }
  }

  /** Null if it is not held. */
  take(id: string): HeldRequest | null {
    const held = this.#held.get(id)
    if (held === undefined) return null
    this.#held.delete(id)
    this.#length -= held.data.length
    return held
  }
}
