/** The raw log's thread, which a `RawLog` starts: composes records for the file and the feed. Never throws. */
import { parentPort, workerData } from 'node:worker_threads'
import { CallIds, startedAtMs } from '../call/call-id.ts'
import { systemClock } from '../call/clock.ts'
import type { Outcome } from '../call/outcome.ts'
import { joined } from '../lib/byte-gather.ts'
import { orNull, reasonOf } from '../lib/errors.ts'
import { clearPayloads } from './file/clear-payloads.ts'
import { PayloadFile } from './file/payload-file.ts'
import { recentPayloads } from './file/payload-reader.ts'
import {
  type FromPayloadWorker,
  type PayloadSettings,
  type RecordBatch,
  type SentRecord,
  type ToPayloadWorker,
  recordsOf,
} from './payload-messages.ts'
import { RecordComposer } from './record/compose-record.ts'
import { isKept } from './copy/capture-rule.ts'

/** Bytes of composed records after which they go to file and feed. */
const outboxLimitBytes = 4 * 2 ** 20

/** A line on its way to the file, to the feed, or to both. */
interface OutgoingLine {
  /** The record's number; null for the start of a call. */
  readonly seq: number | null
  /** The line with its line break. */
  readonly bytes: Buffer
  readonly toFile: boolean
  readonly toFeed: boolean
}

const port = parentPort
if (port === null) throw new Error('payload-worker runs only as the thread of a RawLog')
const settings: PayloadSettings = workerData
const { filePath } = settings

const composer = new RecordComposer(settings)
// Sequence numbers rise even if the clock is set back.
let seqFloorMs = 0
const seqs = new CallIds(() => (seqFloorMs = Math.max(seqFloorMs, systemClock.wallTime())), settings.idBits)
const file = new PayloadFile({ ...settings, nextSeq: () => seqs.next() })

let isLogging = false
let isFed = settings.fed
let outbox: OutgoingLine[] = []
let outboxBytes = 0
/** Records that could not be kept, since the last `taken`. */
let dropped = 0
/** Bytes of the feed that the parent has not acknowledged, and records that were left out meanwhile. */
let fedBytes = 0
let feedLost = 0

/** By call id: writes the request of a call in flight to the file, if the call fails. */
const heldRequests = new Map<number, () => void>()

// The next write reports an error.
orNull(() => {
  seqFloorMs = startedAtMs(file.lastSeq() ?? 0) + 1
})
setLogging(settings.enabled)
port.on('message', (message: ToPayloadWorker) => {
  switch (message.kind) {
    case 'batch':
      addBatch(message)
      break
    case 'mode':
      isFed = message.fed
      setLogging(message.enabled)
      break
    case 'recent':
      answer(message.question, () => recentPayloads(filePath, message.limit))
      break
    case 'clear':
      answer(message.question, () => {
        clearPayloads(filePath)
        return new Uint8Array()
      })
      break
    case 'fed':
      fedBytes -= message.bytes
      break
    case 'close':
      file.close()
      post({ kind: 'closed' })
      port.close()
      break
  }
})

function post(message: FromPayloadWorker, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer)
}

function addRequest(raw: Extract<SentRecord, { kind: 'request' }>): void {
  const { callId, keeping } = raw
  const seq = seqs.next()
  compose(seq, () => composer.composeRequest(raw, seq), isLogging && keeping === 'always')
  if (!isLogging || keeping !== 'if_failed') return
  // The body is copied, because the batch's memory also has bodies of other calls.
  const own = { ...raw, bytes: Buffer.from(raw.bytes) }
  heldRequests.set(callId, () => compose(seq, () => composer.composeRequest(own, seq), true, false))
}

function addAnswer(raw: Extract<SentRecord, { kind: 'answer' }>): void {
  const { callId, keeping, outcome } = raw
  const keepRequest = heldRequests.get(callId)
  heldRequests.delete(callId)
  const toFile = isLogging && isKept(keeping, outcome as Outcome)
  if (toFile) keepRequest?.()
  const seq = seqs.next()
  compose(seq, () => composer.composeAnswer(raw, seq), toFile)
}

function compose(seq: number | null, make: () => string, toFile: boolean, toFeed: boolean = isFed): void {
  if (!toFile && !toFeed) return
  try {
    const bytes = Buffer.from(`${make()}\n`)
    outbox.push({ seq, bytes, toFile, toFeed })
    outboxBytes += bytes.length
  } catch {
    dropped++
  }
  if (outboxBytes > outboxLimitBytes) deliver()
}

function addBatch(batch: RecordBatch): void {
  for (const record of recordsOf(batch)) {
    if (record.kind === 'request') addRequest(record)
    else if (record.kind === 'answer') addAnswer(record)
    else compose(null, () => composer.composeStarted(record), false)
  }
  deliver()
  post({ kind: 'taken', dropped })
  dropped = 0
}

function deliver(): void {
  const waiting = outbox
  outbox = []
  outboxBytes = 0
  const lines = waiting.filter(({ toFile }) => toFile).map(({ bytes }) => bytes)
  if (lines.length > 0 && isLogging) {
    const { written, error } = file.append(lines)
    dropped += lines.length - written
    if (error !== null) switchOff(error)
  }
  feed(waiting.filter(({ toFeed }) => toFeed))
}

/** Transfers lines to the parent. While too many bytes are unacknowledged, lines are left out and counted. */
function feed(lines: readonly OutgoingLine[]): void {
  if (lines.length === 0) return
  const events = lines.map(({ seq, bytes }) => ({ seq, length: bytes.length - 1 }))
  const bytes = joined(lines.map((line) => line.bytes.subarray(0, -1)))
  if (fedBytes > 0 && fedBytes + bytes.length > settings.fedBytesLimit) {
    feedLost += events.filter(({ seq }) => seq !== null).length
    return
  }
  fedBytes += bytes.length
  post({ kind: 'feed', bytes, events, lost: feedLost }, [bytes.buffer])
  feedLost = 0
}

/** Switches the file on or off. An unwritable file is reported at once, not with the next call. */
function setLogging(enabled: boolean): void {
  if (enabled === isLogging) return
  isLogging = enabled
  if (!enabled) {
    file.close()
    return
  }
  const { error } = file.append([])
  if (error !== null) switchOff(error)
}

function switchOff(error: unknown): void {
  isLogging = false
  post({ kind: 'trouble', message: troubleOf(error) })
}

function answer(question: number, work: () => Uint8Array<ArrayBuffer>): void {
  try {
    const json = work()
    post({ kind: 'answer', question, json, trouble: null }, [json.buffer])
  } catch (error) {
    post({ kind: 'answer', question, json: new Uint8Array(), trouble: troubleOf(error) })
  }
}

/** Why the log cannot be written, for people. */
function troubleOf(error: unknown): string {
  return `${filePath}: ${reasonOf(error)}`
}
