import { gather } from '../../call/gather.ts'
import type { Clock } from '../../call/clock.ts'
import { joined } from '../../lib/byte-gather.ts'
import type { SentRecord, ToPayloadWorker } from '../payload-messages.ts'

/** Limits of a sender, and its thread. */
export interface RecordSenderOptions {
  readonly clock: Clock
  readonly maxBodyBytes: number
  /** Most bytes in calls and batches. At the limit no further call is copied; shortly before it, bodies are cut. */
  readonly heldBytesLimit: number
  /** Longest time from a record to its sending, in ms. */
  readonly flushAfterMs: number
  readonly post: (message: ToPayloadWorker, transfer: ArrayBuffer[]) => void
  /** Called with the number of records that are lost because the thread is gone. */
  readonly onLost: (records: number) => void
}

/** A batch of this size is sent at once; a smaller one if the memory limit is small. */
const fullBatchBytes = 256 * 1024
const batchShare = 1 / 16
/** Share of the limit that bodies may fill. Heads and ends of calls use the rest. */
const bodyShare = 7 / 8

interface SentBatch {
  readonly atMs: number
  readonly bytes: number
  readonly records: number
}

/** Sends records in batches to a thread while that lives, and counts their memory. */
export class RecordSender {
  readonly #options: RecordSenderOptions
  readonly #batchBytes: number
  /** JSON texts of records for the next batch, and their bodies. */
  #texts: string[] = []
  #bodies: Uint8Array[] = []
  #bytes = 0
  #records = 0
  /** The batches that the thread has not answered. */
  readonly #sentBatches: SentBatch[] = []
  #sentBytes = 0
  /** Bytes of memory of calls in flight. */
  #callBytes = 0
  readonly #flushSoon: () => void
  #isClosed = false

  constructor(options: RecordSenderOptions) {
    this.#options = options
    this.#flushSoon = gather(options.clock, options.flushAfterMs, () => this.flush(), { background: true })
    this.#batchBytes = Math.min(fullBatchBytes, Math.ceil(options.heldBytesLimit * batchShare))
  }

  /** True if there is memory for another call. */
  get hasRoom(): boolean {
    return this.#heldBytes < this.#options.heldBytesLimit
  }

  /** How long the thread has not answered the oldest batch, in ms; 0 if it has answered all. */
  get waitingMs(): number {
    const [first] = this.#sentBatches
    return first === undefined ? 0 : this.now() - first.atMs
  }

  wallTime(): number {
    return this.#options.clock.wallTime()
  }

  now(): number {
    return this.#options.clock.now()
  }

  /** How many of a body's next bytes to copy, after those that were `copied`. */
  roomFor(bytes: number, copied: number): number {
    const { maxBodyBytes, heldBytesLimit } = this.#options
    const hasRoom = !this.#isClosed && this.#heldBytes + bytes <= heldBytesLimit * bodyShare
    return hasRoom ? Math.min(bytes, maxBodyBytes - copied) : 0
  }

  /** Counts memory of a call: more bytes, or fewer if negative. */
  hold(bytes: number): void {
    this.#callBytes += bytes
  }

  /** The sender owns the record's bytes, which must be a whole `ArrayBuffer` or its beginning: a large one is not copied. */
  send(record: SentRecord): void {
    const isRecord = record.kind !== 'started'
    if (this.#isClosed) {
      if (isRecord) this.#options.onLost(1)
      return
    }
    const length = isRecord ? record.bytes.length : 0
    // A large body goes alone.
    if (length >= this.#batchBytes) this.flush()
    const text = JSON.stringify({ ...record, bytes: length })
    this.#texts.push(text)
    if (isRecord) this.#records++
    if (isRecord && length > 0) this.#bodies.push(record.bytes)
    this.#bytes += length
    this.#bytes += text.length
    if (this.#bytes >= this.#batchBytes) this.flush()
    else this.#flushSoon()
  }

  /** Sends the batch, full or not. */
  flush(): void {
    if (this.#texts.length === 0) return
    const [bytes, records] = [this.#bytes, this.#records]
    const [body] = this.#bodies
    const bodies =
      body?.buffer instanceof ArrayBuffer && this.#bodies.length === 1
        ? body.buffer
        : joined(this.#bodies).buffer
    const message = { kind: 'batch', records: `[${this.#texts.join()}]`, bodies } as const
    this.#empty()
    this.#sentBatches.push({ atMs: this.now(), bytes, records })
    this.#sentBytes += bytes
    this.#options.post(message, [bodies])
  }

  /** The thread has answered the oldest batch. */
  acknowledge(): void {
    this.#sentBytes -= this.#sentBatches.shift()?.bytes ?? 0
  }

  /** The thread is gone: further records are lost. Returns how many unanswered records are lost, too. */
  close(): number {
    this.#isClosed = true
    const records = this.#sentBatches.splice(0).reduce((sum, sent) => sum + sent.records, this.#records)
    this.#empty()
    return records
  }

  get #heldBytes(): number {
    return this.#callBytes + this.#bytes + this.#sentBytes
  }

  #empty(): void {
    this.#texts = []
    this.#bodies = []
    this.#bytes = 0
    this.#records = 0
  }
}
