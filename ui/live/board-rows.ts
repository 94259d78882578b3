import type { LiveCall, LiveState } from '../../src/api/live-calls.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { BarPart, TimedCall } from '../call/call-phases.ts'
import { count } from '../format/figures.ts'

/** The time for which an ended call keeps its row, so that other rows do not jump. */
export const keptMs = 1500
/** With more rows than this, rows of ended calls are removed at once. */
const mostRows = 2000

/** A row of the board. */
export interface BoardRow {
  readonly id: string
  /** The call in the last report that has it. */
  readonly call: LiveCall
  /** The instant when the call was recorded or left the gateway's list; null before. */
  readonly goneMs: number | null
  /** The recorded call; null until it is recorded. */
  readonly record: CallJson | null
}

/**
 * Returns the rows after a report, or after time has passed with the same `calls`. Each call keeps its place, and
 * new ones are added below. Rows of ended calls are removed after a moment, but never while a person reads.
 */
export function nextRows(
  rows: readonly BoardRow[],
  calls: readonly LiveCall[],
  nowMs: number,
  isRead: boolean,
  recordOf: (id: string) => CallJson | null,
): readonly BoardRow[] {
  // A recorded call has ended, even if a late report still lists it.
  const listedCalls = new Map(calls.filter(({ id }) => recordOf(id) === null).map((call) => [call.id, call]))
  const next: BoardRow[] = []
  for (const row of rows) {
    const call = listedCalls.get(row.id)
    listedCalls.delete(row.id)
    if (call !== undefined) next.push(row.call === call && row.goneMs === null ? row : running(call))
    else if (row.goneMs === null) next.push({ ...row, goneMs: nowMs, record: recordOf(row.id) })
    else if ((isRead && rows.length < mostRows) || nowMs - row.goneMs < keptMs) {
      const record = recordOf(row.id)
      next.push(record === row.record ? row : { ...row, record })
    }
  }
  for (const call of listedCalls.values()) next.push(running(call))
  const isSame = next.length === rows.length && next.every((row, at) => row === rows[at])
  return isSame ? rows : next
}

function running(call: LiveCall): BoardRow {
  return { id: call.id, call, goneMs: null, record: null }
}

/** The states of a call in words, each with the part of a bar whose colour it has. The order is that of counts. */
export const liveStates: Readonly<Record<LiveState, { readonly words: string; readonly part: BarPart }>> = {
  streaming: { words: 'Streaming', part: 'stream' },
  waiting: { words: 'Awaiting response', part: 'first' },
  queued: { words: 'Queued', part: 'wait' },
  backing_off: { words: 'Retrying', part: 'wait' },
  receiving: { words: 'Receiving', part: 'receive' },
}

/** Returns the state of a call; for a queued call, the reason of its wait. */
export function callState({ state, waits_for: awaited }: LiveCall): string {
  if (awaited === 'tokens') return 'Waiting for tokens'
  return awaited === 'requests' ? 'Waiting for rate limit' : liveStates[state].words
}

/** Returns the number of calls in each state: `3 streaming, 1 queued`. Empty without calls. */
export function boardWords(calls: readonly Pick<LiveCall, 'state'>[]): string {
  return Object.entries(liveStates)
    .map(([name, { words }]) => [calls.filter(({ state }) => state === name).length, words] as const)
    .filter(([calls]) => calls > 0)
    .map(([calls, words]) => `${count(calls)} ${words.toLowerCase()}`)
    .join(', ')
}

/** Returns a call's times as if it ended at `nowMs`, for its bar. */
export function timedAt(call: LiveCall, nowMs: number): TimedCall {
  const { state, receive_ms, queue_ms, retry_wait_ms, ttfb_ms, ttft_ms } = call
  const duration_ms = Math.max(0, nowMs - Date.parse(call.started_at))
  const isBack = queue_ms !== null && (state === 'backing_off' || state === 'queued')
  const lasts = Number.POSITIVE_INFINITY
  return {
    attempts: 1,
    duration_ms,
    receive_ms: state === 'receiving' ? lasts : receive_ms,
    queue_ms: state === 'queued' ? (queue_ms ?? lasts) : queue_ms,
    retry_wait_ms: isBack ? lasts : retry_wait_ms,
    ttft_ms: state === 'waiting' ? lasts : (ttft_ms ?? ttfb_ms),
  }
}

/** Returns the consequences of cancelling a call, which the reader sees before it. */
export function cancelPoints({ call: { state, chunks }, goneMs }: BoardRow): readonly string[] {
  if (goneMs !== null) return ['The call has already ended.']
  if (state === 'streaming') {
    const so = chunks === 0 ? '' : ` after ${count(chunks)} ${chunks === 1 ? 'chunk' : 'chunks'}`
    return [
      `The response stops${so}. The client will see an incomplete response and may retry.`,
      'The upstream request is cancelled immediately.',
    ]
  }
  const refusal = 'The client gets status 503 and should not retry.'
  return state === 'waiting' ? [refusal, 'The upstream request is cancelled immediately.'] : [refusal]
}
