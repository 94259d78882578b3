import { useMemo } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { Range } from '../data/page-range.ts'
import type { Bounds } from './time-frame.ts'

/** The range that each zoom has left, by the span that it has led to. */
const leftRanges = new Map<string, Range>()

const spanKey = ({ fromMs, toMs }: Bounds): string => `${fromMs} ${toMs}`

/** Makes a span of time the range of the page, and undoes that; `zoomOut` is null where the range is no span. */
export function useZoom(): {
  readonly zoom: (bounds: Bounds) => void
  readonly zoomOut: (() => void) | null
} {
  const { address, go } = useNavigation()
  const { range } = address
  return useMemo(() => {
    const shown = range.last === null ? spanKey(range) : null
    const zoom = ({ fromMs, toMs }: Bounds): void => {
      const key = spanKey({ fromMs, toMs })
      // The whole of a span leads nowhere else: its way out stays.
      if (key !== shown) leftRanges.set(key, range)
      go({ range: { last: null, fromMs, toMs } })
    }
    const zoomOut = (): void => go({ range: leftRanges.get(shown ?? '') ?? { last: '24h' } })
    return { zoom, zoomOut: shown === null ? null : zoomOut }
  }, [range, go])
}
