import { count, duration } from '../format/figures.ts'
import { endWords } from '../data/failure-words.ts'
import type { CourseGap, CoursePoint, SessionCourse } from './session-course.ts'

/** A time needs so much room, a sign so much, in pixels. */
const [timePx, signPx] = [76, 10]

export interface AxisMarks {
  readonly times: readonly { readonly px: number; readonly ms: number }[]
  readonly signs: readonly {
    readonly px: number
    readonly kind: 'break' | 'failed'
    readonly words: string
  }[]
}

/** Where the time of a call is written, and where a sign stands for what a reader should see: as many as there is room for. */
export function axisMarks(
  { pieces, placeOf }: Pick<SessionCourse, 'pieces' | 'placeOf'>,
  axisPx: number,
  fromPx: number,
  toPx: number,
): AxisMarks {
  const times: { px: number; ms: number }[] = []
  const signs: { px: number; kind: 'break' | 'failed'; words: string }[] = []
  let timeEndPx = 0
  const signEndPx = { break: 0, failed: 0 }
  for (const { call, startMs, prefixBreak } of pieces) {
    const px = Math.round(placeOf(startMs) * axisPx)
    const isSeen = px >= fromPx && px <= toPx
    // All count, seen or not: what is scrolled into view stands where it stood.
    if (px >= timeEndPx && px + timePx <= Math.max(axisPx, timePx)) {
      timeEndPx = px + timePx
      if (isSeen) times.push({ px, ms: startMs })
    }
    const sign = (kind: 'break' | 'failed', words: string): void => {
      if (px < signEndPx[kind]) return
      signEndPx[kind] = px + signPx
      if (isSeen) signs.push({ px, kind, words })
    }
    if (call.failed) sign('failed', endWords(call))
    if (prefixBreak !== null) {
      const { before, now, afterMs } = prefixBreak
      sign(
        'break',
        `The cache broke: ${count(now)} tokens of the prompt were cached, after ${count(before)} in the call before, ` +
          `which had ended ${duration(afterMs)} earlier`,
      )
    }
  }
  return { times, signs }
}

/** A gap between calls, and the room for its words: up to the next gap that is drawn. */
export interface DrawnGap {
  readonly gap: CourseGap
  readonly leftPx: number
  readonly widthPx: number
  roomPx: number
}

/** Shorter gaps are not seen, in pixels; those that are cut short always are. */
const leastGapPx = 2

/** The gaps between two pixels of an axis. */
export function gapsBetween(
  { gaps, placeOf }: Pick<SessionCourse, 'gaps' | 'placeOf'>,
  axisPx: number,
  fromPx: number,
  toPx: number,
): readonly DrawnGap[] {
  const drawn: DrawnGap[] = []
  for (const gap of gaps) {
    const leftPx = placeOf(gap.startMs) * axisPx
    const widthPx = placeOf(gap.endMs) * axisPx - leftPx
    const last = drawn.at(-1)
    if (last !== undefined) last.roomPx = Math.min(last.roomPx, Math.max(leftPx - last.leftPx, last.widthPx))
    if (leftPx > toPx) break
    if (leftPx + widthPx < fromPx || (widthPx < leastGapPx && !gap.isCut)) continue
    drawn.push({ gap, leftPx, widthPx, roomPx: Math.max(widthPx, axisPx - leftPx) })
  }
  return drawn
}

interface Room {
  /** What of the axis is drawn begins there, in pixels. */
  readonly left: number
  readonly width: number
  readonly height: number
  /** Where the axis ends. */
  readonly end: number
}

/** A line of steps, and what is below it, as SVG paths. Points of one pixel are one: the one that is farthest from the one before. */
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
    // Only the last one to the left, and the first to the right, of what is drawn.
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
