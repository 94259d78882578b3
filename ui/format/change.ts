/** The change of a figure against the previous window. */
export interface Change {
  /** `+16%`; empty where only the earlier value is useful. */
  readonly words: string
  /** The earlier value. */
  readonly was: string
  readonly tone: 'better' | 'worse' | 'plain'
}

export interface Compared {
  readonly now: number | null
  readonly before: number | null
  /** Calls that each of them is of. */
  readonly nNow: number
  readonly nBefore: number
  /** Which way is the good one; null where neither is. */
  readonly better: 'lower' | 'higher' | null
  /** True for a share of 1, whose change is in points: a percentage of a percentage misleads. */
  readonly isShare?: boolean
  readonly show: (value: number) => string
}

/** Smaller changes, and changes of fewer calls, may be chance: they have no colour. */
const leastShare = 0.1
const minSample = 50
const mostShare = 19

/** The change of a figure; null where there is nothing to compare it with. */
export function changeOf({
  now,
  before,
  nNow,
  nBefore,
  better,
  isShare = false,
  show,
}: Compared): Change | null {
  if (now === null || before === null || nNow === 0 || nBefore === 0) return null
  const was = show(before)
  // Equal texts count as no change.
  if (show(now) === was) return { words: '±0', was, tone: 'plain' }
  if (before === 0 && !isShare) return { words: 'new', was, tone: 'plain' }
  const share = now / before - 1
  // From a tiny value any change is huge, so its size says nothing.
  if (share >= mostShare && !isShare) return { words: '', was, tone: 'plain' }
  const isTelling = Math.abs(share) >= leastShare && nNow >= minSample && nBefore >= minSample
  const isBetter = share < 0 === (better === 'lower')
  return {
    words: isShare ? pointWords(now - before) : shareWords(share),
    was,
    tone: !isTelling || better === null ? 'plain' : isBetter ? 'better' : 'worse',
  }
}

function pointWords(difference: number): string {
  const points = Number((Math.abs(difference) * 100).toPrecision(2))
  return `${difference < 0 ? '−' : '+'}${points} pts`
}

function shareWords(share: number): string {
  if (share >= 9.995) return `×${Math.round(share + 1)}`
  const percent = Math.round(Math.abs(share) * 100)
  if (percent === 0) return '±0%'
  return `${share < 0 ? '−' : '+'}${percent}%`
}
