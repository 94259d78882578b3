import type { LiveCall, LiveCalls, LiveState } from '../../api/live-calls.ts'
import type { HealthReport } from '../../api/health-report.ts'
import { bytes, count, counted, longDuration, orDash, speed, unknownFigure } from '../../lib/number-format.ts'
import { type LineStyle, type Tone, paint } from './paint.ts'
import { printable } from './printable.ts'
import { type Column, column, fitting, right } from './table-layout.ts'

/** A gateway's calls at an instant. */
export interface Board {
  readonly slots: HealthReport['rate_limiter']
  readonly live: LiveCalls
  /** Calls per second that got a slot; null before the second snapshot. */
  readonly callsPerS: number | null
}

const states: Readonly<Record<LiveState, readonly [words: string, tone: Tone]>> = {
  receiving: ['receiving', 'faint'],
  queued: ['queued', 'left'],
  waiting: ['awaiting response', 'plain'],
  streaming: ['streaming', 'good'],
  backing_off: ['retrying', 'left'],
}

/** The columns of the table of calls. */
export const boardColumns: readonly Column<LiveCall>[] = [
  column('state', 0, stateText, { typicalWidth: 15, gap: '', tone: ({ state }) => states[state][1] }),
  column('since', 1, (call, nowMs) => since(call.state_since, nowMs), { ...right, typicalWidth: 6 }),
  column('age', 0, (call, nowMs) => since(call.started_at, nowMs), { ...right, typicalWidth: 6 }),
  column('model', 0, (call) => printable(call.model ?? call.path), {
    typicalWidth: 20,
    cut: { minWidth: 12, at: 'middle' },
  }),
  column('client', 3, (call) => printable(call.client ?? unknownFigure), {
    typicalWidth: 12,
    cut: { minWidth: 8, at: 'end' },
  }),
  column('session', 5, (call) => printable(call.session ?? unknownFigure), {
    typicalWidth: 16,
    cut: { minWidth: 10, at: 'end' },
  }),
  column('chunks', 2, (call) => (call.chunks === 0 ? unknownFigure : count(call.chunks)), right),
  column('chunks/s', 2, (call) => orDash(call.chunks_per_s, speed), right),
  column('in', 7, (call) => bytes(call.request_bytes), { ...right, typicalWidth: 7 }),
  column('out', 6, (call) => bytes(call.response_bytes), { ...right, typicalWidth: 7 }),
  column('upstream', 8, (call) => printable(call.upstream), {
    typicalWidth: 20,
    cut: { minWidth: 12, at: 'end' },
  }),
]

function stateText({ state, queue_place: queueIndex, waits_for: awaited }: LiveCall): string {
  if (queueIndex === null) return states[state][0]
  const words =
    awaited === 'tokens'
      ? 'waiting for tokens'
      : awaited === 'requests'
        ? 'waiting for rate limit'
        : states[state][0]
  return `${words} #${count(queueIndex)}`
}

function since(iso: string, nowMs: number): string {
  return longDuration(Math.max(0, Math.floor((nowMs - Date.parse(iso)) / 1000)))
}

/** The lines above the calls: slots, queue and speeds. */
export function boardHead({ slots, live, callsPerS }: Board, { width, color }: LineStyle): string {
  const speeds = live.calls.flatMap(({ chunks_per_s: speed }) => speed ?? [])
  const parts = [
    paint('good', `${count(slots.active)} of ${count(slots.max_concurrent)} slots`, color),
    paint(slots.queued > 0 ? 'left' : 'plain', `${count(slots.queued)} queued`, color),
    ...(callsPerS === null ? [] : [`${speed(callsPerS)} calls/s`]),
    `${speed(speeds.reduce((sum, perCall) => sum + perCall, 0))} chunks/s`,
    `${counted(live.calls.length + live.more, 'call')} in progress`,
  ]
  return fitting(parts, width)
}
