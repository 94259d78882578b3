import { useNavigation } from '../data/navigation.tsx'
import type { Range } from '../data/page-range.ts'
import type { Bounds } from './time-frame.ts'

/** The range before each zoom, by the key of the span that was zoomed to. */
const leftRanges = new Map<string, Range>()

const spanKey = ({ fromMs, toMs }: Bounds): string => `${fromMs} ${toMs}`

/**
 * Returns `zoom`, which makes a span the page's range, and `zoomOut`, which restores the range before. `zoomOut` is
 * null if the page's range is relative.
 */
export function useZoom(): {
  readonly zoom: (bounds: Bounds) => void
  readonly zoomOut: (() => void) | null
} {
  const { address, go } = useNavigation()
  const { range } = address
  const shown = range.last === null ? spanKey(range) : null
  const zoom = ({ fromMs, toMs }: Bounds): void => {
    const key = spanKey({ fromMs, toMs })
    // A zoom to the current span keeps the range to return to.
    if (key !== shown) leftRanges.set(key, range)
    go({ range: { last: null, fromMs, toMs } })
  }
  const zoomOut = (): void => go({ range: leftRanges.get(shown ?? '') ?? { last: '24h' } })
  return { zoom, zoomOut: shown === null ? null : zoomOut }
}
