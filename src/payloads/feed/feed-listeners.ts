import type { FromPayloadWorker } from '../payload-messages.ts'

/** An event of the feed: a record, or the start of a call. All listeners share its bytes: nobody may change them. */
export interface FeedEvent {
  /** The record's; null of a start, which nobody asks for again. */
  readonly seq: number | null
  /** One line of JSON, without a line break. */
  readonly json: Uint8Array
}

/** Told of what passes while it watches. One that throws is not told again. */
export interface FeedListener {
  /** In order; several at a time when there is much traffic. */
  events(events: readonly FeedEvent[]): void
  /** So many records came to be lost on their way to the feed. */
  dropped(count: number): void
}

/** Who watches. */
export class FeedListeners {
  readonly #listeners = new Set<FeedListener>()
  readonly #onChange: () => void

  /** `onChange` is told when the first comes and when the last goes. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#listeners.size
  }

  add(listener: FeedListener): Disposable {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#onChange()
    return { [Symbol.dispose]: () => this.#remove(listener) }
  }

  tell({ bytes, events, lost }: Extract<FromPayloadWorker, { kind: 'feed' }>): void {
    this.tellDropped(lost)
    const told = events.map(({ seq, offset, length }) => ({
      seq,
      json: bytes.subarray(offset, offset + length),
    }))
    this.#each((listener) => listener.events(told))
  }

  tellDropped(records: number): void {
    if (records > 0) this.#each((listener) => listener.dropped(records))
  }

  #each(tell: (listener: FeedListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        tell(listener)
      } catch {
        this.#remove(listener)
      }
    }
  }

  #remove(listener: FeedListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onChange()
  }
}
