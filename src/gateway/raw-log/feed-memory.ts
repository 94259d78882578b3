import type { RawLogEvent } from '../../api/raw-log.ts'
import type { PayloadEvent } from '../../call/payload-log.ts'
import { sseEvent } from '../../lib/http.ts'

/** An event as it goes over the wire, one buffer for all readers. */
export interface FeedFrame {
  /** The record's; null of what is no record. */
  readonly seq: number | null
  readonly bytes: Uint8Array
}

const dataField = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/** An event of the log on the wire: unnamed, and with its seq for an id where it is a record. */
export function frameOf({ seq, json }: PayloadEvent): FeedFrame {
  const start = seq === null ? dataField : Buffer.from(`id: ${seq}\ndata: `)
  return { seq, bytes: Buffer.concat([start, json, eventEnd]) }
}

/** An event of the feed's own. */
export function ownFrame(event: Extract<RawLogEvent, { readonly type: string }>): FeedFrame {
  return { seq: null, bytes: Buffer.from(sseEvent(null, JSON.stringify(event))) }
}

/** Where a reader stands: before this event, and with so many records behind it, both counted since the feed began. */
export interface FeedPlace {
  readonly event: number
  readonly records: number
}

/** What an event takes besides its bytes, roughly. */
const bytesPerEvent = 150

/** The place behind a frame that stands at `place`. */
export function placeAfter({ event, records }: FeedPlace, { seq }: FeedFrame): FeedPlace {
  return { event: event + 1, records: seq === null ? records : records + 1 }
}

/** The last events of the feed, as many as fit: what readers that are behind, or come back, are given. */
export class FeedMemory {
  readonly #limitBytes: number
  /** By the number of the event. */
  readonly #frames = new Map<number, FeedFrame>()
  #heldBytes = 0
  /** The newest record that was let go of. */
  #goneSeq: number | null = null
  /** Before the oldest event. */
  first: FeedPlace = { event: 0, records: 0 }
  /** Behind the newest event. */
  end: FeedPlace = this.first

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The event behind a place; null if there is none, or not any more. */
  at({ event }: FeedPlace): FeedFrame | null {
    return this.#frames.get(event) ?? null
  }

  add(frame: FeedFrame): void {
    this.#frames.set(this.end.event, frame)
    this.end = placeAfter(this.end, frame)
    this.#heldBytes += frame.bytes.length + bytesPerEvent
    while (this.#heldBytes > this.#limitBytes) this.#letGo()
  }

  /** Behind the record that a reader has seen last; whether it misses none between. */
  resume(lastSeq: number): { readonly place: FeedPlace; readonly isWhole: boolean } {
    let { event, records } = this.end
    for (; event > this.first.event; event -= 1) {
      const seq = this.#frames.get(event - 1)?.seq ?? null
      if (seq !== null && seq <= lastSeq) return { place: { event, records }, isWhole: seq === lastSeq }
      if (seq !== null) records -= 1
    }
    return { place: this.first, isWhole: lastSeq === this.#goneSeq }
  }

  /** Forgets all events; places go on counting. */
  clear(): void {
    this.first = this.end
    this.#frames.clear()
    this.#heldBytes = 0
    this.#goneSeq = null
  }

  #letGo(): void {
    const frame = this.at(this.first)
    if (frame === null) return
    this.#frames.delete(this.first.event)
    this.first = placeAfter(this.first, frame)
    this.#goneSeq = frame.seq ?? this.#goneSeq
    this.#heldBytes -= frame.bytes.length + bytesPerEvent
  }
}
