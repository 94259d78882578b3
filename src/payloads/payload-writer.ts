import { CallIds, startedAtMs } from '../call/call-id.ts'
import type { Outcome } from '../call/outcome.ts'
import { codeOf, messageOf } from '../lib/caught.ts'
import { isCaptured, isSampled } from './tap/capture-rule.ts'
import { clearPayloads } from './file/clear-payloads.ts'
import { RecordComposer } from './record/compose-record.ts'
import { LineOutbox } from './feed/line-outbox.ts'
import { PayloadFile } from './file/payload-file.ts'
import type { FedEvent, FromPayloadWorker, PayloadSettings, ToPayloadWorker } from './payload-messages.ts'
import { PayloadReader } from './file/payload-reader.ts'
import type { RawAnswer, RawRequest } from './record/raw-payload.ts'
import { tapItems } from './tap/tap-batch.ts'
import { type TappedCall, TappedCalls, type TappedCallListener } from './tap/tapped-calls.ts'

/** Characters of records that are made before the file and the feed are given them. */
const outboxSize = 4 * 2 ** 20

/** The thread's side of a `PayloadLog`: makes records, keeps them in the file, and hands them to the feed. Never throws. */
export class PayloadWriter implements TappedCallListener {
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
  readonly #outbox = new LineOutbox()
  #enabled = false
  #fed: boolean
  #dropped = 0
  #fileBytes = 0

  constructor(
    settings: PayloadSettings,
    wallTime: () => number,
    post: (message: FromPayloadWorker, transfer: ArrayBuffer[]) => void,
  ) {
    this.#settings = settings
    this.#post = post
    const { filePath, segmentBytes, totalBytes, salt, maxBodyBytes, idBits } = settings
    this.#composer = new RecordComposer({ salt, maxBodyBytes })
    // Numbers rise even where the clock was set back since the last of them.
    this.#seqs = new CallIds(() => (this.#seqFloorMs = Math.max(this.#seqFloorMs, wallTime())), idBits)
    const nextSeq = (): number => this.#seqs.next()
    this.#file = new PayloadFile({ filePath, segmentBytes, totalBytes, nextSeq })
    this.#reader = new PayloadReader(filePath)
    this.#fed = settings.fed
    this.#orElse(() => {
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
          this.#file.forgetSizes()
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
    if (!this.#fed) return
    this.#outbox.add({
      seq: null,
      json: this.#composer.composeStarted(call.begin),
      toFile: false,
      toFeed: true,
    })
  }

  request(call: TappedCall, raw: RawRequest): void {
    const mayBeKept = this.#mayKeep(raw.callId)
    const isHeld = mayBeKept && this.#settings.capture.kind === 'errors'
    const toFile = mayBeKept && !isHeld
    const seq = this.#fed || toFile ? this.#seqs.next() : null
    if (isHeld) call.held = { raw, seq }
    if (seq !== null) this.#compose(seq, () => this.#composer.composeRequest(raw, seq), toFile, this.#fed)
  }

  answer({ held }: TappedCall, raw: RawAnswer): void {
    const { callId } = raw
    const toFile = this.#mayKeep(callId) && isCaptured(this.#settings.capture, raw.outcome as Outcome)
    if (toFile && held !== null) {
      const seq = held.seq ?? this.#seqs.next()
      this.#compose(seq, () => this.#composer.composeRequest(held.raw, seq), true, false)
    }
    if (!toFile && !this.#fed) return
    const seq = this.#seqs.next()
    this.#compose(seq, () => this.#composer.composeAnswer(raw, seq), toFile, this.#fed)
  }

  #mayKeep(callId: number): boolean {
    return this.#enabled && isSampled(this.#settings.capture, callId)
  }

  #compose(seq: number, compose: () => string, toFile: boolean, toFeed: boolean): void {
    let json: string
    try {
      json = compose()
    } catch {
      this.#dropped++
      return
    }
    this.#outbox.add({ seq, json, toFile, toFeed })
    if (this.#outbox.size > outboxSize) this.#deliver()
  }

  #takeBatch({ bytes, length, texts }: Extract<ToPayloadWorker, { kind: 'batch' }>): void {
    for (const item of tapItems(bytes, length, texts)) this.#calls.take(item)
    this.#deliver()
    this.#count()
    const [dropped, heldBytes, fileBytes] = [this.#dropped, this.#calls.heldBytes, this.#fileBytes]
    this.#post({ kind: 'taken', bytes, dropped, heldBytes, fileBytes }, [bytes])
  }

  #deliver(): void {
    if (this.#outbox.size === 0) return
    const { bytes, lines, events } = this.#outbox.empty()
    if (lines.length > 0) {
      const { kept, error } = this.#enabled ? this.#file.append(lines) : { kept: 0, error: null }
      if (this.#enabled) this.#dropped += lines.length - kept
      if (error !== null) this.#switchOff(error)
    }
    this.#feed(bytes, events)
  }

  /** Gives the bytes away to the main thread; leaves the events out while it has not taken what it was given. */
  #feed(bytes: Buffer<ArrayBuffer>, events: readonly FedEvent[]): void {
    if (events.length === 0) return
    if (this.#fedBytes > 0 && this.#fedBytes + bytes.length > this.#settings.fedBytesLimit) {
      this.#feedLost += events.filter(({ seq }) => seq !== null).length
      return
    }
    this.#fedBytes += bytes.length
    const lost = this.#feedLost
    this.#feedLost = 0
    this.#post({ kind: 'feed', bytes, events, lost }, [bytes.buffer])
  }

  /** Whether it can be written is found out at once, not with the next call. */
  #enable(enabled: boolean): void {
    if (enabled === this.#enabled) return
    this.#enabled = enabled
    if (!enabled) this.#file.close()
    const error = enabled ? this.#file.prepare() : null
    if (error !== null) this.#switchOff(error)
    // Full segments are counted once, and best before anybody waits for it.
    else if (enabled) this.#orElse(() => this.#reader.recent(0))
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
    this.#count()
    this.#post({ kind: 'answer', question, json, trouble, fileBytes: this.#fileBytes }, [json.buffer])
  }

  #count(): void {
    this.#orElse(() => {
      this.#fileBytes = this.#file.bytes(performance.now())
    })
  }

  /** What cannot be read now is as it was. */
  #orElse(work: () => void): void {
    try {
      work()
    } catch {
      // Writing tells what is wrong with the file.
    }
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
