import { count, duration } from '../format/figures.ts'
import { endWords } from '../data/failure-text.ts'
import { roundStep, roundTimes } from '../format/time-ticks.ts'
import type { Times } from '../format/times.ts'
import type { CourseGap, CoursePoint, TimelineView } from './session-course.ts'

/** The widths in pixels of a time, of a time with its day, and of a sign. */
const [timePx, dayPx, signPx] = [76, 104, 10]

/** A time on an axis, in milliseconds since the session began. */
export interface AxisTime {
  readonly px: number
  readonly ms: number
  /** True if the day differs from the day of the time before, in a session of several days. */
  readonly isNewDay: boolean
}

/**
 * Returns round times along an axis, with room for each. All steps have the same width, but shortened gaps have no
 * times. An axis too short for a round time has only the time of the first call.
 */
export function axisTimes(
  view: Omit<TimelineView, 'pieces' | 'lanes' | 'inCallsMs' | 'placeOf'>,
  times: Times,
): readonly AxisTime[] {
  const { gaps, lengthMs, beganMs, axisMs, axisPx, fromPx, toPx, pxOf } = view
  const hasDays = times.day(beganMs) !== times.day(beganMs + lengthMs)
  const roomPx = hasDays ? dayPx : timePx
  const pxPerMs = axisPx / axisMs
  const stepS = roundStep(roomPx / pxPerMs / 1000)
  const cuts = gaps.filter(({ isCut }) => isCut)
  const ticks: AxisTime[] = []
  let endPx = 0
  let before: string | null = null
  for (const [at, startMs] of [0, ...cuts.map(({ endMs }) => endMs)].entries()) {
    // Times to the left of the visible part decide which others have room. The two nearest ones are enough.
    const leftMs = startMs + (fromPx - 2 * roomPx - pxOf(startMs)) / pxPerMs
    const rightMs = startMs + (toPx - pxOf(startMs)) / pxPerMs
    const fromMs = Math.max(startMs, leftMs)
    const toMs = Math.min(cuts[at]?.startMs ?? lengthMs, rightMs)
    for (const tick of roundTimes(times, beganMs + fromMs, beganMs + toMs, stepS)) {
      const ms = tick.ms - beganMs
      const px = Math.round(pxOf(ms))
      if (px < endPx || px + roomPx > axisPx) continue
      endPx = px + roomPx
      const day = times.day(tick.ms)
      ticks.push({ px, ms, isNewDay: hasDays && day !== before })
      before = day
    }
  }
  return ticks.length > 0 ? ticks : [{ px: 0, ms: 0, isNewDay: hasDays }]
}

export interface AxisSign {
  readonly px: number
  readonly kind: 'break' | 'failed'
  readonly words: string
}

/** Returns the signs of cache breaks and failed calls, as many as have room. */
export function axisSigns({
  pieces,
  pxOf,
  fromPx,
  toPx,
}: Pick<TimelineView, 'pieces' | 'pxOf' | 'fromPx' | 'toPx'>): readonly AxisSign[] {
  const breaks: AxisSign[] = []
  const failures: AxisSign[] = []
  let [breakEndPx, failureEndPx] = [0, 0]
  for (const { call, startMs, prefixBreak } of pieces) {
    const px = Math.round(pxOf(startMs))
    const isSeen = px >= fromPx && px <= toPx
    // Invisible signs count, too, so that scrolling does not move signs.
    if (prefixBreak !== null && px >= breakEndPx) {
      breakEndPx = px + signPx
      const { before: cached, now, afterMs } = prefixBreak
      const words =
        `Cache break: ${count(now)} prompt tokens cached, after ${count(cached)} in the previous call, ` +
        `which ended ${duration(afterMs)} earlier`
      if (isSeen) breaks.push({ px, kind: 'break', words })
    }
    if (call.failed && px >= failureEndPx) {
      failureEndPx = px + signPx
      if (isSeen) failures.push({ px, kind: 'failed', words: endWords(call) })
    }
  }
  return [...breaks, ...failures.filter((failure) => !isBeside(failure, breaks))]
}

/**
 * True if a failed call's sign would overlap a cache break's. The break is shown, because it is rarer, and the
 * failed call's bar is red anyway.
 */
function isBeside({ px }: AxisSign, breaks: readonly AxisSign[]): boolean {
  return breaks.some((sign) => Math.abs(sign.px - px) < signPx)
}

/** A gap between calls, and the room for its text, up to the next drawn gap. */
export interface DrawnGap {
  readonly gap: CourseGap
  readonly leftPx: number
  readonly widthPx: number
  readonly roomPx: number
  /** False if only the tooltip has room for the text. */
  readonly hasWords: boolean
}

/** The least width of a visible gap. Shortened gaps are always visible. */
const leastGapPx = 2
/**
 * A narrower gap has no text. The text of a shortened gap may cover this much of the following gaps, because only
 * that text shows the gap's length.
 */
const [leastWordsPx, cutWordsPx] = [36, 128]

/** Returns the gaps of the drawn part. */
export function drawnGaps({
  gaps,
  pxOf,
  axisPx,
  fromPx,
  toPx,
}: Pick<TimelineView, 'gaps' | 'pxOf' | 'axisPx' | 'fromPx' | 'toPx'>): readonly DrawnGap[] {
  const visible = gaps
    .map((gap) => ({ gap, leftPx: pxOf(gap.startMs), widthPx: pxOf(gap.endMs) - pxOf(gap.startMs) }))
    .filter(
      ({ gap, leftPx, widthPx }) =>
        leftPx <= toPx + cutWordsPx &&
        leftPx + widthPx + cutWordsPx >= fromPx &&
        (gap.isCut || widthPx >= leastGapPx),
    )
  let takenPx = Number.NEGATIVE_INFINITY
  return visible
    .map(({ gap, leftPx, widthPx }, at) => {
      const later = visible.slice(at + 1)
      const nextPx = later[0]?.leftPx ?? axisPx
      const nextCutPx = later.find(({ gap: { isCut } }) => isCut)?.leftPx ?? axisPx
      const endPx = gap.isCut ? Math.min(nextCutPx, Math.max(nextPx, leftPx + cutWordsPx)) : nextPx
      const isTaken = !gap.isCut && leftPx < takenPx
      const roomPx = Math.max(isTaken ? 0 : endPx - leftPx, widthPx)
      if (gap.isCut) takenPx = leftPx + roomPx
      return { gap, leftPx, widthPx, roomPx, hasWords: !isTaken && roomPx >= leastWordsPx }
    })
    .filter(({ leftPx }) => leftPx <= toPx)
}

interface Room {
  /** The start of the visible part of the axis, in pixels. */
  readonly left: number
  readonly width: number
  readonly height: number
  /** The end of the axis, in pixels. */
  readonly end: number
}

/**
 * Returns a stepped line and the area below it as SVG paths. If several points share a pixel, only the farthest
 * from the point before counts.
 */
export function linePath(
  points: readonly CoursePoint[],
  pxOf: (ms: number) => number,
  high: number,
  { left, width, height, end }: Room,
): { readonly line: string; readonly area: string } {
  const places: { x: number; y: number }[] = []
  for (const { ms, value } of points) {
    const x = Math.round(pxOf(ms) - left)
    const y = Math.round((1 - (high > 0 ? value / high : 0)) * height * 10) / 10 + 1
    const last = places.at(-1)
    const before = places.at(-2)
    // Only the last point to the left of the visible part is kept, and the first to its right.
    if (last !== undefined && last.x < 0 && x <= 0) places[places.length - 1] = { x, y }
    else if (last?.x === x) {
      if (before === undefined || Math.abs(y - before.y) > Math.abs(last.y - before.y)) last.y = y
    } else places.push({ x, y })
    if (x > width) break
  }
  const [first] = places
  const last = places.at(-1)
  if (first === undefined || last === undefined) return { line: '', area: '' }
  const endX = Math.max(last.x, Math.round(Math.min(end - left, width)))
  const line =
    `M${first.x} ${first.y}` +
    places
      .slice(1)
      .map(({ x, y }) => `H${x}V${y}`)
      .join('') +
    `H${endX}`
  return { line, area: `${line}V${height + 1}H${first.x}Z` }
}
