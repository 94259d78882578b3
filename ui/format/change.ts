/** The change of a figure against an earlier period. */
export interface Change {
  /** The change, such as `+16%`; empty if only the earlier value helps. */
  readonly words: string
  /** The earlier value. */
  readonly was: string
  readonly tone: 'better' | 'worse' | 'plain'
}

export interface Compared {
  readonly now: number | null
  readonly before: number | null
  /** The numbers of calls behind the two values. */
  readonly nNow: number
  readonly nBefore: number
  /** The direction that is better; null for neither. */
  readonly better: 'lower' | 'higher' | null
  /**
   * True for a share (0 to 1), whose change is in percentage points, because a percentage of a percentage misleads.
   */
  readonly isShare?: boolean
  readonly show: (value: number) => string
}

/** Changes below this share, or of fewer calls than `minSample`, may be chance, so they have no colour. */
const leastShare = 0.1
const minSample = 50
const mostShare = 19

/** Returns the change of a figure; null without a value to compare with. */
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
  // Compared with a tiny value, any change is huge, so its size means nothing.
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
