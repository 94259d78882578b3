import type { CallJson } from '../../src/call/call-record.ts'
import { listed } from './session-text.ts'

/** A call of a session, and the place of its bar. Times are milliseconds since the session began. */
export interface CoursePiece {
  readonly call: CallJson
  readonly startMs: number
  readonly endMs: number
  /** The lane, from 0. Concurrent calls are in different lanes. */
  readonly lane: number
  /** Set if the cache held less of the prompt than before, although the prompt had grown; else null. */
  readonly prefixBreak: PrefixBreak | null
}

export interface PrefixBreak {
  /** The cached input tokens of the previous call, and of this one. */
  readonly before: number
  readonly now: number
  /** The time since the end of the previous call. */
  readonly afterMs: number
}

/** A time without an open call, spent by the agent, its tools or its user. */
export interface CourseGap {
  readonly startMs: number
  readonly endMs: number
  /** The names of the tools that the calls before the gap requested. */
  readonly tools: readonly string[]
  /** True if the gap is drawn shorter than to scale. */
  readonly isCut: boolean
}

/** A session on one axis of time. */
export interface SessionCourse {
  readonly pieces: readonly CoursePiece[]
  readonly gaps: readonly CourseGap[]
  readonly lanes: number
  readonly lengthMs: number
  /** The time in which at least one call was open. */
  readonly inCallsMs: number
  /** The length of the axis in milliseconds. Long gaps are shortened. */
  readonly axisMs: number
  /** Maps milliseconds since the session's start to a place on the axis, 0 to 1. */
  readonly placeOf: (ms: number) => number
  /** The session's start, in milliseconds since the Unix epoch. */
  readonly beganMs: number
}

/** The most lanes. Further calls are drawn in the last one. */
const mostLanes = 12
/** A smaller fall of the cached share comes from the upstream's rounding. */
const tellingFall = 0.1

/** Returns the course of a session from its calls, the oldest first. */
export function sessionCourse(calls: readonly CallJson[]): SessionCourse {
  const beganMs = calls.reduce(
    (least, call) => Math.min(least, Date.parse(call.started_at)),
    Number.POSITIVE_INFINITY,
  )
  const laneEnds: number[] = []
  const lastOfModel = new Map<string | null, { readonly call: CallJson; readonly endMs: number }>()
  const pieces = calls.map((call): CoursePiece => {
    const startMs = Date.parse(call.started_at) - beganMs
    const endMs = startMs + (call.duration_ms ?? 0)
    let lane = laneEnds.findIndex((end) => end <= startMs)
    if (lane < 0) lane = Math.min(laneEnds.length, mostLanes - 1)
    laneEnds[lane] = Math.max(laneEnds[lane] ?? 0, endMs)
    const last = lastOfModel.get(call.model)
    const prefixBreak =
      last === undefined || last.endMs > startMs ? null : breakOf(last.call, call, startMs - last.endMs)
    // After concurrent calls, the next prompt is compared with the longest of them.
    if (
      isCounted(call) &&
      (last === undefined || last.endMs <= startMs || inputOf(call) > inputOf(last.call))
    ) {
      lastOfModel.set(call.model, { call, endMs })
    }
    return { call, startMs, endMs, lane, prefixBreak }
  })
  const lengthMs = Math.max(0, ...laneEnds)
  const uncut = gapsOf(pieces)
  const gapsMs = uncut.map(({ startMs, endMs }) => endMs - startMs)
  const inCallsMs = lengthMs - gapsMs.reduce((sum, ms) => sum + ms, 0)
  const cutMs = gapLimitMs(gapsMs, inCallsMs)
  const gaps = uncut.map(({ startMs, endMs, tools }) => ({
    startMs,
    endMs,
    tools,
    isCut: endMs - startMs > cutMs,
  }))
  const lanes = Math.max(1, laneEnds.length)
  return { pieces, gaps, lanes, lengthMs, inCallsMs, beganMs, ...axisOf(gaps, lengthMs, cutMs) }
}

/**
 * Returns the length (ms) of the longest gap drawn to scale; longer ones are shortened to it. The length is three
 * times a usual gap, or a quarter of the time in calls. Calls always get at least a tenth of the axis.
 */
export function gapLimitMs(gapsMs: readonly number[], inCallsMs: number): number {
  const rising = gapsMs.toSorted((a, b) => a - b)
  const usual = rising[Math.floor((rising.length - 1) / 2)] ?? 0
  const limit = Math.max(3 * usual, inCallsMs / 4, 1)
  let room = 9 * Math.max(inCallsMs, 1)
  for (const [at, ms] of rising.entries()) {
    const gapsLeft = rising.length - at
    if (ms * gapsLeft > room) return Math.min(limit, room / gapsLeft)
    room -= ms
  }
  return limit
}

function isCounted({ input_tokens: input, cached_input_tokens: cached }: CallJson): boolean {
  return input !== null && cached !== null
}

function inputOf({ input_tokens: input }: CallJson): number {
  return input ?? 0
}

function breakOf(last: CallJson, call: CallJson, afterMs: number): PrefixBreak | null {
  const [before, now] = [last.cached_input_tokens ?? 0, call.cached_input_tokens]
  if (now === null || inputOf(call) <= inputOf(last)) return null
  return now < before * (1 - tellingFall) ? { before, now, afterMs } : null
}

function gapsOf(pieces: readonly CoursePiece[]): readonly Omit<CourseGap, 'isCut'>[] {
  const gaps: Omit<CourseGap, 'isCut'>[] = []
  let endMs = 0
  let tools = new Set<string>()
  for (const piece of pieces) {
    if (piece.startMs > endMs) {
      gaps.push({ startMs: endMs, endMs: piece.startMs, tools: [...tools] })
      tools = new Set()
    }
    for (const name of listed(piece.call.tools)) tools.add(name)
    endMs = Math.max(endMs, piece.endMs)
  }
  return gaps
}

/** A time from which on the axis has one scale. */
interface AxisPart {
  readonly ms: number
  /** The time on the axis. */
  readonly drawnMs: number
  /** The drawn length of a millisecond. */
  readonly scale: number
}

function axisOf(
  gaps: readonly CourseGap[],
  lengthMs: number,
  cutMs: number,
): Pick<SessionCourse, 'axisMs' | 'placeOf'> {
  const start: AxisPart = { ms: 0, drawnMs: 0, scale: 1 }
  const parts = [start]
  let leftOutMs = 0
  for (const { startMs, endMs, isCut } of gaps) {
    if (!isCut) continue
    parts.push({ ms: startMs, drawnMs: startMs - leftOutMs, scale: cutMs / (endMs - startMs) })
    leftOutMs += endMs - startMs - cutMs
    parts.push({ ms: endMs, drawnMs: endMs - leftOutMs, scale: 1 })
  }
  const axisMs = Math.max(lengthMs - leftOutMs, 1)
  const placeOf = (atMs: number): number => {
    const { ms, drawnMs, scale } = lastOf(parts, (part) => part.ms <= atMs) ?? start
    return (drawnMs + (atMs - ms) * scale) / axisMs
  }
  return { axisMs, placeOf }
}

/** The drawn part of a session's axis. */
export interface TimelineView extends SessionCourse {
  readonly axisPx: number
  readonly fromPx: number
  readonly toPx: number
  /** Maps milliseconds since the session's start to a pixel of the axis. */
  readonly pxOf: (ms: number) => number
}

/** The bar of a call, or of several calls that are close to each other. */
export interface CourseBar {
  readonly piece: CoursePiece
  readonly leftPx: number
  readonly widthPx: number
  /** The number of calls in the bar. */
  readonly calls: number
  readonly failed: boolean
}

/** The least width of a bar, and the most width of a bar of several calls. */
const [leastPx, crowdPx] = [3, 16]

/**
 * Returns the bars of the drawn part. Overlapping calls of a lane are joined to one bar, so that many calls give few
 * bars.
 */
export function barsOf({
  pieces,
  pxOf,
  fromPx,
  toPx,
}: Pick<TimelineView, 'pieces' | 'pxOf' | 'fromPx' | 'toPx'>): readonly CourseBar[] {
  const bars: CourseBar[] = []
  /** The index of the last bar in each lane. */
  const last: number[] = []
  for (const piece of pieces) {
    const startPx = pxOf(piece.startMs)
    const endPx = Math.max(startPx + leastPx, pxOf(piece.endMs))
    if (endPx < fromPx || startPx > toPx) continue
    const before = bars[last[piece.lane] ?? -1]
    const beforePx = before === undefined ? Number.NEGATIVE_INFINITY : before.leftPx + before.widthPx
    const { failed } = piece.call
    if (before !== undefined && startPx < beforePx - 0.5 && before.widthPx < crowdPx) {
      const widthPx = Math.max(endPx - before.leftPx, before.widthPx)
      const calls = before.calls + 1
      bars[last[piece.lane] ?? 0] = { ...before, widthPx, calls, failed: before.failed || failed }
    } else {
      last[piece.lane] = bars.length
      const leftPx = Math.max(startPx, beforePx)
      bars.push({ piece, leftPx, widthPx: Math.max(leastPx, endPx - leftPx), calls: 1, failed })
    }
  }
  return bars
}

/** A figure of the session after one of its calls. */
export interface CoursePoint {
  readonly ms: number
  readonly value: number
}

/** Returns the model that read the most tokens. Other models have other prompts. */
function mainModel(pieces: readonly CoursePiece[]): string | null {
  const sums = new Map<string | null, number>()
  for (const { call } of pieces) sums.set(call.model, (sums.get(call.model) ?? 0) + inputOf(call))
  let [main, most]: [string | null, number] = [null, -1]
  for (const [model, sum] of sums) if (sum > most) [main, most] = [model, sum]
  return main
}

/**
 * For each call of the main model, returns prompt tokens and their cached share; for all calls, the session's cost
 * so far (USD). `model` is null if the session has only one.
 */
export function courseLines({ pieces }: Pick<SessionCourse, 'pieces'>): {
  readonly prompt: readonly CoursePoint[]
  readonly cached: readonly CoursePoint[]
  readonly cost: readonly CoursePoint[]
  readonly model: string | null
} {
  const [prompt, cached, cost]: [CoursePoint[], CoursePoint[], CoursePoint[]] = [[], [], []]
  const main = mainModel(pieces)
  let spentUsd = 0
  for (const { call, startMs } of pieces) {
    const { input_tokens: input, cached_input_tokens: hit, cost_usd: dollars } = call
    const isMain = call.model === main
    if (isMain && input !== null) prompt.push({ ms: startMs, value: input })
    if (isMain && input !== null && input > 0 && hit !== null)
      cached.push({ ms: startMs, value: hit / input })
    if (dollars !== null) cost.push({ ms: startMs, value: (spentUsd += dollars) })
  }
  const isAlone = pieces.every(({ call }) => call.model === main)
  return { prompt, cached, cost, model: isAlone ? null : main }
}

/** Returns the start of the last call that begins at or before a place of the axis; null without one. */
export function pieceAt(
  { pieces, placeOf }: Pick<SessionCourse, 'pieces' | 'placeOf'>,
  place: number,
): number | null {
  return lastOf(pieces, ({ startMs }) => placeOf(startMs) <= place)?.startMs ?? null
}

/** Returns the figure after the last call that had begun by `ms`; null without one. */
export function pointAt(points: readonly CoursePoint[], ms: number): CoursePoint | null {
  return lastOf(points, (point) => point.ms <= ms)
}

/** Returns the last item for which `isTrue` returns true. All earlier items must give true as well. */
function lastOf<Item>(list: readonly Item[], isTrue: (item: Item) => boolean): Item | null {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isTrue(list[middle] as Item)) low = middle + 1
    else high = middle
  }
  return list[low - 1] ?? null
}
