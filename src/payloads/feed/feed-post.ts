import type { FedEvent, FromPayloadWorker } from '../payload-messages.ts'

/** Hands events to the main thread, and leaves them out while it has not taken what it was given. */
export class FeedPost {
  readonly #limitBytes: number
  readonly #post: (message: FromPayloadWorker, transfer: ArrayBuffer[]) => void
  #underWayBytes = 0
  #lost = 0

  constructor(limitBytes: number, post: (message: FromPayloadWorker, transfer: ArrayBuffer[]) => void) {
    this.#limitBytes = limitBytes
    this.#post = post
  }

  /** The buffer is given away. */
  send(bytes: Buffer<ArrayBuffer>, events: readonly FedEvent[]): void {
    if (events.length === 0) return
    if (this.#underWayBytes > 0 && this.#underWayBytes + bytes.length > this.#limitBytes) {
      this.#lost += events.filter(({ seq }) => seq !== null).length
      return
    }
    this.#underWayBytes += bytes.length
    const lost = this.#lost
    this.#lost = 0
    this.#post({ kind: 'feed', bytes, events, lost }, [bytes.buffer])
  }

  /** So many bytes reached the listeners. */
  taken(bytes: number): void {
    this.#underWayBytes = Math.max(0, this.#underWayBytes - bytes)
  }
}
