/** The payload log's thread: makes records, keeps them in the file, and hands them to the feed. Its parent is a `PayloadLog`. */
import { parentPort, workerData } from 'node:worker_threads'
import { CallIds, startedAtMs } from '../call/call-id.ts'
import type { Outcome } from '../call/outcome.ts'
import { joined } from '../lib/byte-gather.ts'
import { codeOf, messageOf } from '../lib/caught.ts'
import { clearPayloads } from './file/clear-payloads.ts'
import { PayloadFile } from './file/payload-file.ts'
import { PayloadReader } from './file/payload-reader.ts'
import type { FromPayloadWorker, PayloadSettings, ToPayloadWorker } from './payload-messages.ts'
import { RecordComposer } from './record/compose-record.ts'
import type { RawAnswer, RawRequest } from './record/raw-payload.ts'
import { isCaptured, isSampled } from './tap/capture-rule.ts'
import { type SealedBatch, tapItems } from './tap/tap-batch.ts'
import { type TappedCall, TappedCalls, type TappedCallListener } from './tap/tapped-calls.ts'

/** Bytes of records that are made before the file and the feed are given them. */
const outboxBytes = 4 * 2 ** 20

/** A line on its way to the file, to the feed, or to both. */
interface OutgoingLine {
  /** Null of what is no record. */
  readonly seq: number | null
  /** With its line break. */
  readonly bytes: Buffer
  readonly toFile: boolean
  readonly toFeed: boolean
}

/** Nothing of it throws. */
class PayloadWriter implements TappedCallListener {
  readonly #settings: PayloadSettings
  readonly #post: (message: FromPayloadWorker, transfer: ArrayBuffer[]) => void
  readonly #composer: RecordComposer
  readonly #calls = new TappedCalls(this)
  readonly #file: PayloadFile
  readonly #reader: PayloadReader
  /** Bytes of feed that the main thread has not taken yet, and records that were left out meanwhile. */
  #fedBytes = 0
  #feedLost = 0
  readonly #seqs: CallIds
  #seqFloorMs = 0
  #outbox: OutgoingLine[] = []
  #outboxBytes = 0
  #enabled = false
  #fed: boolean
  #dropped = 0

  constructor(
    settings: PayloadSettings,
    post: (message: FromPayloadWorker, transfer: ArrayBuffer[]) => void,
  ) {
    this.#settings = settings
    this.#post = post
    const { filePath, segmentBytes, totalBytes, idBits } = settings
    this.#composer = new RecordComposer(settings)
    // Numbers rise even where the clock was set back since the last of them.
    this.#seqs = new CallIds(() => (this.#seqFloorMs = Math.max(this.#seqFloorMs, Date.now())), idBits)
    const nextSeq = (): number => this.#seqs.next()
    this.#file = new PayloadFile({ filePath, segmentBytes, totalBytes, nextSeq })
    this.#reader = new PayloadReader(filePath)
    this.#fed = settings.fed
    orElse(() => {
      this.#seqFloorMs = startedAtMs(this.#file.lastSeq() ?? 0) + 1
    })
    this.#enable(settings.enabled)
  }

  handle(message: ToPayloadWorker): void {
    switch (message.kind) {
      case 'batch':
        this.#takeBatch(message)
        break
      case 'mode':
        this.#fed = message.fed
        this.#enable(message.enabled)
        break
      case 'recent':
        this.#answer(message.question, () => this.#reader.recent(message.limit))
        break
      case 'clear':
        this.#answer(message.question, () => {
          clearPayloads(this.#settings.filePath)
          return new Uint8Array()
        })
        break
      case 'fed':
        this.#fedBytes -= message.bytes
        break
      case 'close':
        this.#file.close()
        this.#post({ kind: 'closed' }, [])
        break
    }
  }

  started(call: TappedCall): void {
    if (this.#fed) this.#compose(null, () => this.#composer.composeStarted(call.begin), false)
  }

  request(call: TappedCall, raw: RawRequest): void {
    const isHeld = this.#settings.capture.kind === 'errors'
    const mayBeKept = this.#mayKeep(raw.callId)
    if (!mayBeKept && !this.#fed) return
    const seq = this.#seqs.next()
    const compose = (): string => this.#composer.composeRequest(raw, seq)
    if (mayBeKept && isHeld) call.keepRequest = () => this.#compose(seq, compose, true, false)
    this.#compose(seq, compose, mayBeKept && !isHeld)
  }

  answer({ keepRequest }: TappedCall, raw: RawAnswer): void {
    const toFile = this.#mayKeep(raw.callId) && isCaptured(this.#settings.capture, raw.outcome as Outcome)
    if (toFile) keepRequest?.()
    if (!toFile && !this.#fed) return
    const seq = this.#seqs.next()
    this.#compose(seq, () => this.#composer.composeAnswer(raw, seq), toFile)
  }

  #mayKeep(callId: number): boolean {
    return this.#enabled && isSampled(this.#settings.capture, callId)
  }

  #compose(seq: number | null, compose: () => string, toFile: boolean, toFeed: boolean = this.#fed): void {
    if (!toFile && !toFeed) return
    try {
      const bytes = Buffer.from(`${compose()}\n`)
      this.#outbox.push({ seq, bytes, toFile, toFeed })
      this.#outboxBytes += bytes.length
    } catch {
      this.#dropped++
    }
    if (this.#outboxBytes > outboxBytes) this.#deliver()
  }

  #takeBatch(batch: SealedBatch): void {
    for (const item of tapItems(batch)) this.#calls.take(item)
    this.#deliver()
    const { bytes } = batch
    this.#post({ kind: 'taken', bytes, dropped: this.#dropped, heldBytes: this.#calls.heldBytes }, [bytes])
    this.#dropped = 0
  }

  #deliver(): void {
    const outbox = this.#outbox
    this.#outbox = []
    this.#outboxBytes = 0
    const lines = outbox.filter(({ toFile }) => toFile).map(({ bytes }) => bytes)
    if (lines.length > 0 && this.#enabled) {
      const { kept, error } = this.#file.append(lines)
      this.#dropped += lines.length - kept
      if (error !== null) this.#switchOff(error)
    }
    this.#feed(outbox.filter(({ toFeed }) => toFeed))
  }

  /** Gives the bytes away to the main thread; leaves the lines out while it has not taken what it was given. */
  #feed(lines: readonly OutgoingLine[]): void {
    if (lines.length === 0) return
    const events = lines.map(({ seq, bytes }) => ({ seq, length: bytes.length - 1 }))
    const bytes = joined(lines.map((line) => line.bytes.subarray(0, -1)))
    if (this.#fedBytes > 0 && this.#fedBytes + bytes.length > this.#settings.fedBytesLimit) {
      this.#feedLost += events.filter(({ seq }) => seq !== null).length
      return
    }
    this.#fedBytes += bytes.length
    this.#post({ kind: 'feed', bytes, events, lost: this.#feedLost }, [bytes.buffer])
    this.#feedLost = 0
  }

  /** Whether it can be written is found out at once, not with the next call. */
  #enable(enabled: boolean): void {
    if (enabled === this.#enabled) return
    this.#enabled = enabled
    if (!enabled) this.#file.close()
    const error = enabled ? this.#file.prepare() : null
    if (error !== null) this.#switchOff(error)
    // Full segments are counted once, and best before anybody waits for it.
    else if (enabled) orElse(() => this.#reader.recent(0))
  }

  #switchOff(error: unknown): void {
    this.#enabled = false
    this.#post({ kind: 'trouble', message: troubleOf(this.#settings.filePath, error) }, [])
  }

  #answer(question: number, work: () => Uint8Array<ArrayBuffer>): void {
    let json = new Uint8Array()
    let trouble: string | null = null
    try {
      json = work()
    } catch (error) {
      trouble = troubleOf(this.#settings.filePath, error)
    }
    this.#post({ kind: 'answer', question, json, trouble }, [json.buffer])
  }
}

/** What cannot be read now is as it was. */
function orElse(work: () => void): void {
  try {
    work()
  } catch {
    // Writing tells what is wrong with the file.
  }
}

/** Why the log at `filePath` cannot be written, in words for a person. */
function troubleOf(filePath: string, error: unknown): string {
  const code = codeOf(error)
  const reason = messageOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return `${filePath}: the disk is full`
  if (code === 'EROFS') return `${filePath}: the file system is read-only`
  if (code === 'EACCES' || code === 'EPERM') return `${filePath}: no right to write it (${reason})`
  return `${filePath}: ${reason}`
}

const port = parentPort
if (port === null) throw new Error('payload-worker runs only as the thread of a PayloadLog')
const writer = new PayloadWriter(workerData, (message, transfer) => {
  port.postMessage(message, transfer)
  if (message.kind === 'closed') port.close()
})
port.on('message', (message: ToPayloadWorker) => writer.handle(message))
