import type { OverviewCall } from '../../src/api/overview.ts'
import type { CallJson } from '../../src/call/call-record.ts'

/** The times of a call for its bar, in milliseconds: from the Overview, or from a whole call. */
export type TimedCall = Partial<Pick<CallJson, 'connect_ms' | 'ttfb_ms'>> &
  Pick<OverviewCall, 'attempts' | 'receive_ms' | 'queue_ms' | 'retry_wait_ms' | 'ttft_ms' | 'duration_ms'>

/** The parts of a bar in a list, in order. */
export const barParts = {
  receive: { words: 'Receiving', colour: 'var(--p99)' },
  wait: { words: 'Waiting', colour: 'var(--queue)' },
  first: { words: 'To first token', colour: 'var(--first)' },
  stream: { words: 'Streaming', colour: 'var(--stream)' },
  answer: { words: 'Not streamed', colour: 'var(--edge)' },
} as const

export type BarPart = keyof typeof barParts

/**
 * The phases of a call in order, named as in browsers' network panels, each with its part in a list's bar. `receive`
 * reads the request's body, `queue` waits for a slot, and `retry` covers lost attempts with the waits between them.
 * `answer` is the rest if no token or byte is known; `refusal` means that nothing was sent upstream.
 */
export const phases = {
  receive: { words: 'Receiving request', part: 'receive' },
  queue: { words: 'Waiting for slot', part: 'wait' },
  retry: { words: 'Waiting to retry', part: 'wait' },
  connect: { words: 'Upstream connect', part: 'first' },
  first_token: { words: 'To first token', part: 'first' },
  first_byte: { words: 'To first byte', part: 'answer' },
  stream: { words: 'Streaming', part: 'stream' },
  body: { words: 'Rest of response', part: 'answer' },
  answer: { words: 'Waiting for response', part: 'answer' },
  refusal: { words: 'Gateway’s response', part: 'answer' },
} as const satisfies Readonly<Record<string, { readonly words: string; readonly part: BarPart }>>

type PhaseName = keyof typeof phases

/** A phase of a call. */
export interface CallPhase {
  readonly name: PhaseName
  /** Milliseconds since the request's head was received. */
  readonly startMs: number
  readonly lengthMs: number
}

/** A shorter wait counts as none. */
const leastWaitMs = 5

/**
 * Returns the phases of a call in order, which add up to the duration. The last phase is the remainder, with the
 * gateway's own fractions of a millisecond. Empty if the duration is unknown. Measured time beyond the duration is
 * cut.
 */
export function callPhases(call: TimedCall): readonly CallPhase[] {
  const { duration_ms: durationMs } = call
  if (durationMs === null) return []
  const ofCall: CallPhase[] = []
  let atMs = 0
  const until = (name: PhaseName, endMs: number): void => {
    const lengthMs = Math.max(0, Math.min(endMs, durationMs) - atMs)
    ofCall.push({ name, startMs: atMs, lengthMs })
    atMs += lengthMs
  }
  const lasting = (name: PhaseName, lengthMs: number | null | undefined): void => {
    if (typeof lengthMs === 'number') until(name, atMs + lengthMs)
  }
  lasting('receive', call.receive_ms)
  // A call that is refused at once has not waited; the time was the gateway's own work.
  if (call.attempts > 0 || (call.queue_ms ?? 0) >= leastWaitMs) lasting('queue', call.queue_ms)
  // A first attempt that answered has waited for no other attempt.
  if (call.retry_wait_ms !== 0) lasting('retry', call.retry_wait_ms)
  // From here on, times count from the start of the answering attempt.
  const sentMs = atMs
  lasting('connect', call.connect_ms)
  if (call.ttft_ms !== null) {
    until('first_token', sentMs + call.ttft_ms)
    until('stream', durationMs)
  } else if (typeof call.ttfb_ms === 'number') {
    until('first_byte', sentMs + call.ttfb_ms)
    until('body', durationMs)
  } else until(call.attempts === 0 ? 'refusal' : 'answer', durationMs)
  return ofCall
}

/** A part of a call's bar. */
export interface BarPiece {
  readonly part: BarPart
  /** Start and length as shares (0 to 1) of the bar's full width. */
  readonly start: number
  readonly length: number
}

/**
 * Returns the bar of a call on a scale of `scaleMs`. Time beyond the scale is cut. Parts below a hundredth of the
 * call are left out, because they would look longer than they are.
 */
export function barPieces(call: TimedCall, scaleMs: number): readonly BarPiece[] {
  const pieces: BarPiece[] = []
  const ofCall = callPhases(call)
  const leastMs = (call.duration_ms ?? 0) / 100
  const hasFirst = ofCall.some(({ name }) => name === 'first_token')
  for (const { name, startMs, lengthMs } of ofCall) {
    if (lengthMs <= 0 || startMs >= scaleMs || lengthMs < leastMs) continue
    const part = phases[name].part === 'first' && !hasFirst ? 'answer' : phases[name].part
    const length = Math.min(lengthMs, scaleMs - startMs) / scaleMs
    const before = pieces.at(-1)
    if (before?.part === part) pieces[pieces.length - 1] = { ...before, length: before.length + length }
    else pieces.push({ part, start: startMs / scaleMs, length })
  }
  return pieces
}

/**
 * Returns the time of a full bar in a list, rounded up to a round number: the duration of the longest call. If a
 * few calls are so long that the other bars would look alike, the time is shorter.
 */
export function barScaleMs(calls: readonly TimedCall[]): number {
  const rising = calls
    .flatMap(({ duration_ms: durationMs }) => (durationMs === null ? [] : [durationMs]))
    .sort((a, b) => a - b)
  const longest = rising.at(-1) ?? 0
  const usual = rising[Math.ceil(rising.length * 0.95) - 1] ?? 0
  return sayable(usual > 0 && longest > 2 * usual ? usual : longest)
}

const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const

function sayable(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return unit * (steps.find((step) => step * unit >= value) ?? 10)
}
