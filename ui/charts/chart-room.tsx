import './charts.css'
import { createContext, type ComponentChildren } from 'preact'
import { useContext, useMemo, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Watched } from '../data/watched.ts'
import { type Palette, usePalette } from './palette.ts'
import type { Bounds } from './time-frame.ts'

/** Something that happened at an instant, marked in every chart. */
export interface ChartMark {
  readonly ms: number
  readonly words: string
}

export interface ChartRoomProps {
  /** When no gateway ran: shaded. */
  readonly outages?: readonly Bounds[]
  readonly marks?: readonly ChartMark[]
  /** While something is dragged: what is drawn must not change. */
  readonly onHold?: (isHeld: boolean) => void
  readonly children: ComponentChildren
}

/** What the charts of a page have in common. */
export interface ChartRoom extends Required<Omit<ChartRoomProps, 'children'>> {
  readonly palette: Palette
  /** The instant that the reader points at, in whichever chart: milliseconds since the Unix epoch. All charts mark it. */
  readonly crosshair: Watched<number | null>
  /** Shows this span alone. */
  readonly zoom: (bounds: Bounds) => void
  /** Undoes that; null if the range is none that was zoomed to. */
  readonly zoomOut: (() => void) | null
}

const RoomContext = createContext<ChartRoom | null>(null)
const none: readonly never[] = []
const ignore = (): void => undefined

/** Gives the charts inside what they have in common. */
export function ChartRoomProvider(props: ChartRoomProps) {
  const { outages = none, marks = none, onHold = ignore, children } = props
  const palette = usePalette()
  const [crosshair] = useState(() => new Watched<number | null>(null))
  const [zoom, zoomOut] = useZoom()
  const room = useMemo(
    () => ({ outages, marks, onHold, palette, crosshair, zoom, zoomOut }),
    [outages, marks, onHold, palette, crosshair, zoom, zoomOut],
  )
  return <RoomContext.Provider value={room}>{children}</RoomContext.Provider>
}

export function useChartRoom(): ChartRoom {
  const room = useContext(RoomContext)
  if (room === null) throw new Error('charts want a ChartRoomProvider around them')
  return room
}

/** Going into a span of time by the address, and back out again. */
function useZoom(): readonly [ChartRoom['zoom'], ChartRoom['zoomOut']] {
  const { address, go } = useNavigation()
  const zoomedTo = useRef<string[]>([])
  const isSpan = address.range.last === null
  return useMemo(() => {
    const zoom = ({ fromMs, toMs }: Bounds): void => {
      go({ range: { last: null, fromMs, toMs } })
      zoomedTo.current.push(location.search)
    }
    const zoomOut = (): void => {
      // Back only if that leads to where the zoom began: a link to a span has nothing behind it.
      if (zoomedTo.current.pop() === location.search) history.back()
      else go({ range: { last: '24h' } })
    }
    return [zoom, isSpan ? zoomOut : null]
  }, [isSpan, go])
}
