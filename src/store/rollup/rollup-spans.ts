/** The rollups' smallest unit of time: every zone in use is off UTC by a multiple of it. */
export const quarterMs: number = 15 * 60_000

/** The levels above the quarter hour, the widest first, with their width in quarters. */
export const coarseLevels = [
  { level: 3, quarters: 96 },
  { level: 2, quarters: 24 },
  { level: 1, quarters: 4 },
] as const

/** Made of quarters with the hour, for one grouping alone. */
export const halfLevel = { level: 4, quarters: 2 } as const

/** What the rollups hold for a question. */
export interface Held {
  /** The coarse levels hold the quarters before this one alone. */
  readonly coarseUntil: number
  /** Half hours are held from this quarter on; infinite where none are. */
  readonly halvesFrom?: number
  /** Nothing narrower than hours is held, and these are there as soon as a call is added. */
  readonly isHourly?: boolean
}

/** Slots `first` to `past` (exclusive) of a level: 0 for quarters, else one of {@link coarseLevels} or {@link halfLevel}. */
export interface Span {
  readonly level: number
  readonly first: number
  readonly past: number
}

/** A range of time as the rollups hold it, and what is left over at its ends. */
export interface Cover {
  readonly spans: readonly Span[]
  /** Milliseconds since the Unix epoch, each from the first (inclusive) to the second: to be counted call by call. */
  readonly ragged: readonly (readonly [fromMs: number, toMs: number])[]
}

/** Covers the time from `fromMs` to `toMs` with as few slots as can be. */
export function coverOf(fromMs: number, toMs: number, held: Held): Cover {
  if (toMs <= fromMs) return { spans: [], ragged: [] }
  const unit = held.isHourly === true ? quartersOf(1) : 1
  const first = Math.ceil(fromMs / quarterMs / unit) * unit
  const past = Math.floor(toMs / quarterMs / unit) * unit
  if (past <= first) return { spans: [], ragged: withoutEmpty([[fromMs, toMs]]) }
  return {
    spans: spansOf(first, past, held),
    ragged: withoutEmpty([
      [fromMs, first * quarterMs],
      [past * quarterMs, toMs],
    ]),
  }
}

/**
 * Covers a row of times, each from one edge to the next. What lies together is one span, also where an edge
 * is within it: no slot reaches over an edge.
 */
export function coverOfAll(edgesMs: readonly number[], held: Held): Cover {
  const spans: Span[] = []
  const ragged: (readonly [number, number])[] = []
  // The last span of each level, by its place in the list.
  const lastOf = new Map<number, number>()
  for (let i = 0; i + 1 < edgesMs.length; i++) {
    const cover = coverOf(edgesMs[i] ?? 0, edgesMs[i + 1] ?? 0, held)
    ragged.push(...cover.ragged)
    for (const span of cover.spans) {
      const place = lastOf.get(span.level) ?? -1
      const last = spans[place]
      if (last?.past === span.first) spans[place] = { ...last, past: span.past }
      else lastOf.set(span.level, spans.push(span) - 1)
    }
  }
  return { spans, ragged }
}

/** The instant at which a slot of a level begins, in milliseconds since the Unix epoch. */
export function slotStartMs(level: number, slot: number): number {
  return slot * quartersOf(level) * quarterMs
}

/** The width of a level's slots, in quarters. */
export function quartersOf(level: number): number {
  if (level === halfLevel.level) return halfLevel.quarters
  return coarseLevels.find((each) => each.level === level)?.quarters ?? 1
}

function spansOf(first: number, past: number, held: Held): readonly Span[] {
  const spans: Span[] = []
  let at = first
  while (at < past) {
    const { level, quarters } = widestAt(at, past, held)
    const slot = at / quarters
    const last = spans.at(-1)
    if (last?.level === level && last.past === slot) spans[spans.length - 1] = { ...last, past: slot + 1 }
    else spans.push({ level, first: slot, past: slot + 1 })
    at += quarters
  }
  return spans
}

function widestAt(at: number, past: number, held: Held): { level: number; quarters: number } {
  const { coarseUntil, halvesFrom = Number.POSITIVE_INFINITY, isHourly = false } = held
  const end = Math.min(past, coarseUntil)
  const isHeld = ({ quarters }: { quarters: number }): boolean => at % quarters === 0 && at + quarters <= end
  const found = coarseLevels.find(isHeld)
  if (found !== undefined) return found
  if (isHourly) return { level: 1, quarters: quartersOf(1) }
  return at >= halvesFrom && isHeld(halfLevel) ? halfLevel : { level: 0, quarters: 1 }
}

function withoutEmpty(
  ranges: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  return ranges.filter(([fromMs, toMs]) => toMs > fromMs)
}
