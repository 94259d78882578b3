/** An event as it goes over the wire, one buffer for all readers. */
export interface FeedFrame {
  /** The record's; null of what is no record. */
  readonly seq: number | null
  readonly bytes: Uint8Array
}

/** Where a reader stands: before this event, and with so many records behind it, both counted since the feed began. */
export interface FeedPlace {
  readonly event: number
  readonly records: number
}

/** What an event takes besides its bytes, roughly. */
const bytesPerEvent = 150
/** Let go of at once, so that the list is seldom moved. */
const longestGap = 1024

/** The last events of the feed, as many as fit: what readers that are behind, or come back, are given. */
export class FeedMemory {
  readonly #limitBytes: number
  #frames: (FeedFrame | null)[] = []
  /** In the list, before the oldest event. */
  #gap = 0
  #first: FeedPlace = { event: 0, records: 0 }
  #records = 0
  #heldBytes = 0
  /** The newest record that was let go of. */
  #goneSeq: number | null = null

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Before the oldest event. */
  get first(): FeedPlace {
    return this.#first
  }

  /** Behind the newest event. */
  get end(): FeedPlace {
    return { event: this.#first.event + this.#frames.length - this.#gap, records: this.#records }
  }

  /** The event behind a place; null where there is none, or not any more. */
  at({ event }: FeedPlace): FeedFrame | null {
    const index = event - this.#first.event
    return index < 0 ? null : (this.#frames[this.#gap + index] ?? null)
  }

  add(frame: FeedFrame): void {
    this.#frames.push(frame)
    this.#heldBytes += frame.bytes.length + bytesPerEvent
    if (frame.seq !== null) this.#records += 1
    while (this.#heldBytes > this.#limitBytes) this.#letGo()
  }

  /** Behind the record that a reader has seen last; whether it misses none between. */
  resume(lastSeq: number): { readonly place: FeedPlace; readonly isWhole: boolean } {
    let { event, records } = this.end
    while (event > this.#first.event) {
      const seq = this.at({ event: event - 1, records })?.seq ?? null
      if (seq !== null && seq <= lastSeq) return { place: { event, records }, isWhole: seq === lastSeq }
      if (seq !== null) records -= 1
      event -= 1
    }
    return { place: this.#first, isWhole: lastSeq === this.#goneSeq }
  }

  /** Forgets all events; places go on counting. */
  clear(): void {
    this.#first = this.end
    this.#frames = []
    this.#gap = 0
    this.#heldBytes = 0
    this.#goneSeq = null
  }

  #letGo(): void {
    const frame = this.#frames[this.#gap]
    if (frame === undefined || frame === null) return
    const { event, records } = this.#first
    this.#first = { event: event + 1, records: records + (frame.seq === null ? 0 : 1) }
    this.#goneSeq = frame.seq ?? this.#goneSeq
    this.#heldBytes -= frame.bytes.length + bytesPerEvent
    this.#frames[this.#gap] = null
    this.#gap += 1
    if (this.#gap < longestGap) return
    this.#frames.splice(0, this.#gap)
    this.#gap = 0
  }
}
