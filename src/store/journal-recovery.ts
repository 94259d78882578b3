import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../call/call-id.ts'
import type { CallStart } from '../call/call.ts'
import type { StoredCall } from './call-columns.ts'
import { CallWriter } from './call-writer.ts'
import { foldedUntilMs } from './fold-calls.ts'
import { parseHeader, parseStart } from './journal-line.ts'
import type { ProcessIdentity } from '../lib/process-identity.ts'
import { BatchEncoder, WordList } from './record-batch.ts'

const callsPerBatch = 500
/** More than a header takes. */
const headBytes = 4096

/**
 * Makes rows of the calls that dead instances began and never finished, then deletes their journals. A call that
 * has its row keeps it, so that being killed in the middle, or doing it twice at once, changes nothing.
 */
export function recoverJournals(
  folder: string,
  database: DatabaseSync,
  isAlive: (process: ProcessIdentity) => boolean,
): void {
  for (const name of readdirSync(folder)) {
    if (!/^inflight-.*\.log(\.tmp)?$/.test(name)) continue
    const path = join(folder, name)
    const head = readHead(path)
    if (head === null) continue
    // A living instance's journal always has its header: the file gets its name after that is written.
    const header = parseHeader(head)
    if (header !== null && isAlive(header)) continue
    if (header !== null && name.endsWith('.log')) {
      const lines = readFileSync(path, 'utf8').split('\n').slice(1)
      const unfoldedId = firstIdAt(foldedUntilMs(database))
      // A call that was folded away has left no row to know it by: it is counted already.
      const starts = lines.flatMap((line) => parseStart(line) ?? []).filter(({ id }) => id >= unfoldedId)
      writeInterrupted(database, starts, header.instance)
    }
    remove(path)
  }
}

/** A call that was sent and of which nothing more is known. It counts nothing in the token budget. */
export function interruptedCall(start: CallStart, instance: string): StoredCall {
  const { type: callType, id, endpoint, method, stream, model, upstream, requestBytes } = start
  const { client, keyFingerprint, userAgent, session, clientRetry } = start
  return {
    id,
    callType,
    endpoint,
    method,
    stream,
    model,
    upstream,
    instance,
    outcome: 'interrupted',
    attempts: 1,
    clientRetry,
    requestBytes,
    responseBytes: 0,
    usageSource: 'none',
    client,
    keyFingerprint,
    userAgent,
    session,
    responseModel: null,
    serviceTier: null,
    status: null,
    failureCode: null,
    upstreamErrorCode: null,
    errorMessage: null,
    finishReason: null,
    receiveMs: null,
    queueMs: null,
    retryWaitMs: null,
    connectMs: null,
    ttfbMs: null,
    ttftMs: null,
    ttfoMs: null,
    durationMs: null,
    overheadMs: null,
    tpotMs: null,
    chunks: null,
    gapP50Ms: null,
    gapP95Ms: null,
    gapMaxMs: null,
    stalls: null,
    inputTokens: null,
    outputTokens: null,
    cachedInputTokens: null,
    cacheWriteTokens: null,
    cacheWrite1hTokens: null,
    inputAudioTokens: null,
    outputAudioTokens: null,
    reasoningTokens: null,
    totalTokens: null,
    searchUnits: null,
    upstreamRequestId: null,
    upstreamQueueMs: null,
    upstreamPromptMs: null,
    upstreamDecodeMs: null,
    costNanoUsd: null,
    priceSource: null,
    priceKey: null,
  }
}

function writeInterrupted(database: DatabaseSync, starts: readonly CallStart[], instance: string): void {
  const words = new WordList()
  const writer = new CallWriter(database, words)
  const encoder = new BatchEncoder()
  for (let at = 0; at < starts.length; at += callsPerBatch) {
    const calls = starts.slice(at, at + callsPerBatch).map((start) => interruptedCall(start, instance))
    const batch = encoder.encode(calls)
    words.accept(batch)
    writer.write(batch)
  }
}

/** The first line; `null` where it cannot be read: gone meanwhile, or not ours. */
function readHead(path: string): string | null {
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(headBytes)
      const text = bytes.toString('utf8', 0, readSync(file, bytes))
      return text.slice(0, text.indexOf('\n'))
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** One that cannot be deleted is read again another time, to no effect: its calls have rows by now. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    return
  }
}
