import { gather } from '../../call/gather.ts'
import type { Clock } from '../../call/clock.ts'
import type { PayloadCall, PayloadTap } from '../../call/payload-log.ts'
import type { FromPayloadWorker, ToPayloadWorker } from '../payload-messages.ts'
import { CallTap } from './call-tap.ts'
import { TapBatch, type TapWords } from './tap-batch.ts'

export interface TapSenderOptions {
  readonly clock: Clock
  readonly maxBodyBytes: number
  /** Held in all, here and in the thread: beyond it calls are not tapped, shortly before it bodies are cut. */
  readonly heldBytesLimit: number
  /** From what a tap sees to its sending, at most. */
  readonly flushAfterMs: number
  readonly post: (message: ToPayloadWorker, transfer: ArrayBuffer[]) => void
  /** So many records are lost on this side of the thread. */
  readonly lost: (records: number) => void
}

/** Most bytes of one batch; fewer if the memory limit is small. */
const largestBatchBytes = 256 * 1024
const batchShare = 1 / 16
/** Buffers that are kept for later batches. */
const spareLimit = 8
/** Batches under way after which the next is sent only when it is full, or one of them was taken. */
const underWayLimit = 2
/** The part of the limit that bodies may fill; the rest is for heads and ends of calls. */
const bodyShare = 7 / 8

interface Sent {
  readonly atMs: number
  readonly bytes: number
  readonly records: number
}

/** Sends what taps see in batches to one thread, for as long as that lives, and knows how much is held of it. */
export class TapSender {
  readonly #options: TapSenderOptions
  readonly #batchBytes: number
  #lastTap = 0
  #batch: TapBatch | null = null
  #batchRecords = 0
  readonly #sent: Sent[] = []
  /** Bytes of batches under way, in the thread, and in taps. */
  #sentBytes = 0
  #threadBytes = 0
  #tapBytes = 0
  readonly #spares: ArrayBuffer[] = []
  readonly #flushSoon: () => void
  #isDue = false
  #isClosed = false

  constructor(options: TapSenderOptions) {
    this.#options = options
    const onTime = (): void => {
      if (this.#sent.length < underWayLimit) this.flush()
      else this.#isDue = true
    }
    this.#flushSoon = gather(options.clock, options.flushAfterMs, onTime, { background: true })
    this.#batchBytes = Math.min(largestBatchBytes, Math.ceil(options.heldBytesLimit * batchShare))
  }

  /** Null if too much is held already: then both records of the call are lost. */
  begin(call: PayloadCall): PayloadTap | null {
    if (this.#heldBytes < this.#options.heldBytesLimit) return new CallTap(this, ++this.#lastTap, call)
    this.#options.lost(2)
    return null
  }

  /** For how long the thread has not taken what it was sent; 0 where it has. */
  get waitingMs(): number {
    const [first] = this.#sent
    return first === undefined ? 0 : this.#options.clock.now() - first.atMs
  }

  wallTime(): number {
    return this.#options.clock.wallTime()
  }

  /** How much is to be copied of so many more bytes of a body, of which `copied` were. */
  roomFor(bytes: number, copied: number): number {
    const { maxBodyBytes, heldBytesLimit } = this.#options
    return this.#heldBytes + bytes <= heldBytesLimit * bodyShare ? Math.min(bytes, maxBodyBytes - copied) : 0
  }

  addData(kind: 'requestData' | 'answerData', tap: number, data: Uint8Array): void {
    for (let start = 0; start < data.length && !this.#isClosed;) {
      start += this.#openBatch().addData(kind, tap, start === 0 ? data : data.subarray(start))
      this.#added()
    }
  }

  addWords<K extends keyof TapWords>(kind: K, tap: number, words: TapWords[K]): void {
    if (this.#isClosed) return
    this.#openBatch().addWords(kind, tap, words)
    this.#added()
  }

  /** With these words a record is whole, or lost with the thread. */
  endRecord<K extends 'requestEnd' | 'ended'>(kind: K, tap: number, words: TapWords[K]): void {
    if (this.#isClosed) this.#options.lost(1)
    else this.#batchRecords++
    this.addWords(kind, tap, words)
  }

  /** A tap holds so many more bytes by itself; fewer where it is negative. */
  hold(bytes: number): void {
    this.#tapBytes += bytes
  }

  /** Sends the batch, full or not. */
  flush(): void {
    const batch = this.#batch
    if (batch === null) return
    this.#batch = null
    this.#isDue = false
    this.#sent.push({ atMs: this.#options.clock.now(), bytes: batch.bytes, records: this.#batchRecords })
    this.#batchRecords = 0
    this.#sentBytes += batch.bytes
    const sealed = batch.seal()
    this.#options.post({ kind: 'batch', ...sealed }, [sealed.bytes])
  }

  /** The thread has taken the first of what is under way. */
  acknowledge({ bytes, heldBytes }: Extract<FromPayloadWorker, { kind: 'taken' }>): void {
    this.#sentBytes -= this.#sent.shift()?.bytes ?? 0
    this.#threadBytes = heldBytes
    if (this.#spares.length < spareLimit) this.#spares.push(bytes)
    if (this.#isDue) this.flush()
  }

  /** The thread is gone, and what taps see is lost from now on. Answers how many records were on their way. */
  close(): number {
    this.#isClosed = true
    this.#batch = null
    return this.#sent.splice(0).reduce((sum, { records }) => sum + records, this.#batchRecords)
  }

  get #heldBytes(): number {
    return this.#sentBytes + this.#threadBytes + this.#tapBytes + (this.#batch?.bytes ?? 0)
  }

  #openBatch(): TapBatch {
    return (this.#batch ??= new TapBatch(this.#spares.pop() ?? new ArrayBuffer(this.#batchBytes)))
  }

  /** The batch is sent when it is full, or soon. */
  #added(): void {
    if (this.#batch?.isFull === true) this.flush()
    this.#flushSoon()
  }
}
