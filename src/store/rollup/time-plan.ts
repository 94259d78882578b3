import { startedAtMs } from '../../call/call-id.ts'
import type { CellMinutes } from './groupings.ts'

export const minuteMs = 60_000
export const quarterMs: number = 15 * minuteMs
export const hourMs: number = 60 * minuteMs
export const dayMs: number = 24 * hourMs

export const hoursPerDay: number = dayMs / hourMs

/** The hour since 1970 in which a call began. */
export function hourOf(callId: number): number {
  return Math.floor(startedAtMs(callId) / hourMs)
}

/** The day since 1970 of an hour since 1970. */
export function dayOf(hour: number): number {
  return Math.floor(hour / hoursPerDay)
}

/** Cells `first` to `past` (exclusive) of a width, counted since 1970. */
export interface Span {
  readonly minutes: CellMinutes
  readonly first: number
  readonly past: number
}

/** The cells that cover a time range, and the rest, which is counted call by call. */
export interface TimePlan {
  readonly spans: readonly Span[]
  /** Milliseconds since 1970, each from the first (inclusive) to the second. */
  readonly rest: readonly (readonly [fromMs: number, toMs: number])[]
}

/** True if a cell has all of its calls, except known missing ones. */
export type HasCells = (minutes: CellMinutes, cell: number) => boolean

/**
 * Covers the times between edges with as few cells as possible. No cell crosses an edge. Neighbouring cells
 * are one span, even across an edge.
 */
export function planOf(
  edgesMs: readonly number[],
  widths: readonly CellMinutes[],
  hasCells: HasCells,
): TimePlan {
  const spans: Span[] = []
  const lastOf = new Map<CellMinutes, number>()
  const rest: [fromMs: number, toMs: number][] = []
  const finestMs = (widths.at(-1) ?? 60) * minuteMs
  const addRest = (fromMs: number, toMs: number): void => {
    const last = rest.at(-1)
    if (last?.[1] === fromMs) last[1] = toMs
    else if (toMs > fromMs) rest.push([fromMs, toMs])
  }
  for (let i = 0; i + 1 < edgesMs.length; i++) {
    const [fromMs = 0, toMs = 0] = edgesMs.slice(i, i + 2)
    for (let at = fromMs; at < toMs;) {
      const minutes = widths.find((width) => {
        const ms = width * minuteMs
        // A half hour between quarters would need a separate span.
        const isAlone = width === 30 && toMs % ms !== 0
        return at % ms === 0 && at + ms <= toMs && !isAlone && hasCells(width, at / ms)
      })
      if (minutes === undefined) {
        const next = Math.min(toMs, (Math.floor(at / finestMs) + 1) * finestMs)
        addRest(at, next)
        at = next
        continue
      }
      const cell = at / (minutes * minuteMs)
      const index = lastOf.get(minutes) ?? -1
      const last = spans[index]
      if (last?.past === cell) spans[index] = { ...last, past: cell + 1 }
      else lastOf.set(minutes, spans.push({ minutes, first: cell, past: cell + 1 }) - 1)
      at += minutes * minuteMs
    }
  }
  return { spans, rest }
}
