import { setImmediate } from 'node:timers/promises'
import type { OutgoingRecord, PayloadRecord } from '../api/raw-log.ts'
import type { CallFilter } from '../call/call-filter.ts'
import { parseCallId, startedAtMs } from '../call/call-id.ts'
import type { CallReader } from '../call/call-reader.ts'
import { OpenSegment } from '../payloads/file/open-segment.ts'
import { listSegments } from '../payloads/file/payload-segments.ts'
import { type SkipReason, trainingExample } from './training-example.ts'

/** Lines that are read at a time. */
const readAtOnceBytes = 1024 * 1024
/** Requests that wait for their answers: beyond it those that have waited longest are given up. */
const waitingBytesLimit = 64 * 1024 * 1024
/** Calls of one millisecond: no id has room for more. */
const callsInMs = 4096

/** What came of it. */
export interface ExportedConversations {
  readonly conversations: number
  readonly skipped: ReadonlyMap<SkipReason, number>
}

export interface ConversationSource {
  /** Of the raw log's active file. */
  readonly filePath: string
  readonly filter: CallFilter
  /** Null if nothing has to be asked of it, or nothing can be. */
  readonly calls: CallReader | null
}

/**
 * Writes each call of the raw log that is a conversation as a line of OpenAI's form for fine-tuning, in the order in which they ended, in
 * memory that does not grow with the log. Rejects with the system's errors, and with what `write` rejects with.
 */
export async function exportConversations(
  { filePath, filter, calls }: ConversationSource,
  write: (line: string) => Promise<void>,
  onProgress: (share: number) => void = () => {},
): Promise<ExportedConversations> {
  const skipped = new Map<SkipReason, number>()
  const skip = (reason: SkipReason): void => void skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  const requests = new WaitingRequests()
  let conversations = 0
  for await (const { line, share } of linesOf(filePath)) {
    onProgress(share)
    const record = JSON.parse(line.toString()) as PayloadRecord | OutgoingRecord
    if (!isAnswer(record)) {
      requests.add(record.id, line)
      continue
    }
    const request = requests.take(record.id)
    const isMeant = await means(filter, calls, record)
    if (isMeant === false) continue
    const example =
      isMeant === null
        ? 'not_recorded'
        : request === null
          ? 'no_request'
          : trainingExample(JSON.parse(request.toString()) as PayloadRecord, record)
    if (typeof example === 'string') skip(example)
    else {
      await write(`${JSON.stringify(example)}\n`)
      conversations += 1
    }
  }
  for (const line of requests.left()) {
    if ((await means(filter, calls, JSON.parse(line.toString()) as PayloadRecord)) === true) skip('no_answer')
  }
  return { conversations, skipped }
}

function isAnswer(record: PayloadRecord | OutgoingRecord): record is OutgoingRecord {
  return record.direction === 'outgoing'
}

/** Requests by their calls' ids, until their answers come. */
class WaitingRequests {
  readonly #lines = new Map<string, Buffer>()
  #bytes = 0

  left(): Iterable<Buffer> {
    return this.#lines.values()
  }

  add(id: string, line: Buffer): void {
    this.#lines.set(id, line)
    this.#bytes += line.length
    for (const oldest of this.#lines.keys()) {
      if (this.#bytes <= waitingBytesLimit || oldest === id) break
      this.take(oldest)
    }
  }

  take(id: string): Buffer | null {
    const line = this.#lines.get(id) ?? null
    this.#lines.delete(id)
    this.#bytes -= line?.length ?? 0
    return line
  }
}

/** Whether a filter means a call; null if nobody can tell, as the database does not have the call. */
async function means(
  { model, fromMs = 0, toMs = Number.POSITIVE_INFINITY, ...others }: CallFilter,
  calls: CallReader | null,
  record: PayloadRecord,
): Promise<boolean | null> {
  const id = parseCallId(record.id) ?? 0
  const startedMs = startedAtMs(id)
  if (startedMs < fromMs || startedMs >= toMs) return false
  if (model !== undefined && (record.model === null || !model.includes(record.model))) return false
  if (Object.keys(others).length === 0) return true
  if (calls === null || (await calls.call(id)) === null) return null
  const filter = { ...others, fromMs: startedMs, toMs: startedMs + 1 }
  return (await calls.list(filter, { limit: callsInMs })).some((call) => call.id === record.id)
}

/** All lines of the log as it is now, oldest first, each with the share of bytes that lies before it. */
async function* linesOf(filePath: string): AsyncGenerator<{ readonly line: Buffer; readonly share: number }> {
  using open = new DisposableStack()
  // All at once: a gateway may rename or delete them meanwhile.
  const segments = listSegments(filePath).flatMap(({ path }) => open.use(OpenSegment.open(path)) ?? [])
  const total = segments.reduce((sum, { size }) => sum + size, 0)
  let before = 0
  for (const segment of segments) {
    for (let at = 0; at < segment.size;) {
      const lines: Buffer[] = []
      let bytes = 0
      const end = segment.eachRecord(at, segment.size, (block, lineStart, lineEnd) => {
        lines.push(Buffer.from(block.subarray(lineStart, lineEnd)))
        bytes += lineEnd - lineStart
        return bytes >= readAtOnceBytes
      })
      for (const line of lines) yield { line, share: (before + at) / total }
      // What stands behind the last line break is no line yet.
      if (end === at || lines.length === 0) break
      at = end
      await setImmediate()
    }
    before += segment.size
  }
}
