import type { Clock } from '../../call/clock.ts'
import type { FromPayloadWorker, ToPayloadWorker } from '../payload-messages.ts'
import { TapBatch } from './tap-batch.ts'

export interface TapSenderOptions {
  readonly clock: Clock
  readonly maxBodyBytes: number
  /** Held in all, here and in the thread: beyond it calls are not tapped, shortly before it bodies are cut. */
  readonly heldBytesLimit: number
  /** From what a tap sees to its sending, at most. */
  readonly flushAfterMs: number
  readonly post: (message: ToPayloadWorker, transfer: ArrayBuffer[]) => void
}

/** Of one batch, or less where little may be held. */
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

/** Sends batches to the thread and knows how much is held of what it was sent. */
export class TapSender {
  readonly #options: TapSenderOptions
  readonly #batchBytes: number
  #batch: TapBatch | null = null
  #generation = 0
  #isOpen = false
  #batchRecords = 0
  #sent: Sent[] = []
  #sentBytes = 0
  #threadBytes = 0
  #spares: ArrayBuffer[] = []
  #isPlanned = false
  #isDue = false
  #dropped = 0

  constructor(options: TapSenderOptions) {
    this.#options = options
    this.#batchBytes = Math.min(largestBatchBytes, Math.ceil(options.heldBytesLimit * batchShare))
  }

  get maxBodyBytes(): number {
    return this.#options.maxBodyBytes
  }

  /** Changes when a thread is lost: what taps of an earlier one saw is lost with it. */
  get generation(): number {
    return this.#generation
  }

  /** Records that were lost on this side of the thread. */
  get dropped(): number {
    return this.#dropped
  }

  /** For how long the thread has not taken what it was sent; 0 where it has. */
  get waitingMs(): number {
    const [first] = this.#sent
    return first === undefined ? 0 : this.#options.clock.now() - first.atMs
  }

  get isFull(): boolean {
    return !this.#isOpen || this.#heldBytes() >= this.#options.heldBytesLimit
  }

  /** There is a thread to send to. */
  open(): void {
    this.#isOpen = true
  }

  /** The thread is gone: what it held, and was not sent to it yet, is counted; answers how many records. */
  lose(): number {
    const records = this.#sent.reduce((sum, sent) => sum + sent.records, this.#batchRecords)
    this.#isOpen = false
    this.#generation++
    this.#batch = null
    this.#isDue = false
    this.#batchRecords = 0
    this.#sent = []
    this.#sentBytes = 0
    this.#threadBytes = 0
    this.#dropped += records
    return records
  }

  /** The batch to add to: another one after each `flush`. Null if that thread is gone, with all that it held. */
  batchOf(generation: number): TapBatch | null {
    if (generation !== this.#generation || !this.#isOpen) return null
    return (this.#batch ??= new TapBatch(this.#spares.pop() ?? new ArrayBuffer(this.#batchBytes)))
  }

  /** Something was added to the batch: it is sent soon. */
  added(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#options.clock.after(
      this.#options.flushAfterMs,
      () => {
        this.#isPlanned = false
        if (this.#sent.length < underWayLimit) this.flush()
        else this.#isDue = true
      },
      { background: true },
    )
  }

  /** Whether so many more bytes of a body may be held. */
  hasRoom(bytes: number): boolean {
    return this.#heldBytes() + bytes <= this.#options.heldBytesLimit * bodyShare
  }

  /** A record became whole. */
  ended(): void {
    this.#batchRecords++
  }

  /** So many records of a call are lost with its thread. */
  lost(records: number): void {
    this.#dropped += records
  }

  wallTime(): number {
    return this.#options.clock.wallTime()
  }

  /** Sends the batch, full or not. */
  flush(): void {
    const batch = this.#batch
    if (batch === null || batch.isEmpty) return
    this.#batch = null
    this.#isDue = false
    const sent = { atMs: this.#options.clock.now(), bytes: batch.bytes, records: this.#batchRecords }
    this.#batchRecords = 0
    this.#sent.push(sent)
    this.#sentBytes += sent.bytes
    const sealed = batch.seal()
    this.#options.post({ kind: 'batch', ...sealed }, [sealed.bytes])
  }

  /** The thread has taken the first of what is under way. */
  taken({ bytes, heldBytes }: Extract<FromPayloadWorker, { kind: 'taken' }>): void {
    this.#sentBytes -= this.#sent.shift()?.bytes ?? 0
    this.#threadBytes = heldBytes
    if (this.#spares.length < spareLimit) this.#spares.push(bytes)
    if (this.#isDue) this.flush()
  }

  #heldBytes(): number {
    return this.#sentBytes + this.#threadBytes + (this.#batch?.bytes ?? 0)
  }
}
