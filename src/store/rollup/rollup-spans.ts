/** The rollups' smallest unit of time: every zone in use is off UTC by a multiple of it. */
export const quarterMs: number = 15 * 60_000

/**
 * The widths of the slots of time in which calls are added up, the finest first: quarters, half hours, hours, six
 * hours and days. Each is made `of` the slots of a finer one when its time is over.
 */
export const levels = [
  { level: 0, quarters: 1, of: null },
  { level: 4, quarters: 2, of: 0 },
  { level: 1, quarters: 4, of: 0 },
  { level: 2, quarters: 24, of: 1 },
  { level: 3, quarters: 96, of: 2 },
] as const

export type LevelNumber = (typeof levels)[number]['level']

/** What the rollups hold for a question. */
export interface Held {
  /** The finest of these is held as soon as a call is added. */
  readonly levels: readonly LevelNumber[]
  /** The wider levels hold the quarters before this one alone. */
  readonly coarseUntil: number
}

/** Slots `first` to `past` (exclusive) of a level. */
export interface Span {
  readonly level: LevelNumber
  readonly first: number
  readonly past: number
}

/** A range of time as the rollups hold it, and what is left over at its ends. */
export interface Cover {
  readonly spans: readonly Span[]
  /** Milliseconds since the Unix epoch, each from the first (inclusive) to the second: to be counted call by call. */
  readonly ragged: readonly (readonly [fromMs: number, toMs: number])[]
}

const widths = Object.fromEntries(levels.map(({ level, quarters }) => [level, quarters])) as Record<
  LevelNumber,
  number
>

/** The width of a level's slots, in quarters. */
export function quartersOf(level: LevelNumber): number {
  return widths[level]
}

/**
 * Covers times, each from one edge to the next, with as few slots as can be. What lies together is one span, also
 * if an edge is within it: no slot reaches over an edge.
 */
export function coverOf(edgesMs: readonly number[], { levels: heldLevels, coarseUntil }: Held): Cover {
  const widths = heldLevels.map((level) => ({ level, quarters: quartersOf(level) }))
  const finest = widths[0] ?? { level: 0, quarters: 1 }
  const widestFirst = widths.toReversed()
  const spans: Span[] = []
  const ragged: (readonly [number, number])[] = []
  /** The last span of each level, by its place in the list. */
  const lastOf = new Map<LevelNumber, number>()
  const addRagged = (fromMs: number, toMs: number): void => {
    if (toMs > fromMs) ragged.push([fromMs, toMs])
  }
  for (let i = 0; i + 1 < edgesMs.length; i++) {
    const [fromMs = 0, toMs = 0] = edgesMs.slice(i, i + 2)
    const first = Math.ceil(fromMs / quarterMs / finest.quarters) * finest.quarters
    const past = Math.floor(toMs / quarterMs / finest.quarters) * finest.quarters
    if (past <= first) {
      addRagged(fromMs, toMs)
      continue
    }
    addRagged(fromMs, first * quarterMs)
    addRagged(past * quarterMs, toMs)
    const end = Math.min(past, coarseUntil)
    for (let at = first; at < past;) {
      const start = at
      const { level, quarters } =
        widestFirst.find((width) => start % width.quarters === 0 && start + width.quarters <= end) ?? finest
      const slot = at / quarters
      const place = lastOf.get(level) ?? -1
      const last = spans[place]
      if (last?.past === slot) spans[place] = { ...last, past: slot + 1 }
      else lastOf.set(level, spans.push({ level, first: slot, past: slot + 1 }) - 1)
      at += quarters
    }
  }
  return { spans, ragged }
}
