import { useMemo, useRef } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { ChartRoom } from './chart-room.tsx'

/** Going into a span of time by the address, and back out again. */
export function useZoom(): Pick<ChartRoom, 'zoom' | 'zoomOut'> {
  const { address, go } = useNavigation()
  const zoomedTo = useRef<string[]>([])
  const isSpan = address.range.last === null
  return useMemo(
    () => ({
      zoom: ({ fromMs, toMs }) => {
        go({ range: { last: null, fromMs, toMs } })
        zoomedTo.current.push(location.search)
      },
      zoomOut: isSpan
        ? () => {
            // Back only where that leads to where the zoom began: a link to a span has nothing behind it.
            if (zoomedTo.current.pop() === location.search) history.back()
            else go({ range: { last: '24h' } })
          }
        : null,
    }),
    [isSpan, go],
  )
}
