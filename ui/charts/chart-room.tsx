import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Times } from '../format/times.ts'
import type { Crosshair } from './crosshair.ts'
import type { Palette } from './palette.ts'
import type { Bounds } from './time-frame.ts'

/** Something that happened at an instant, marked in every chart. */
export interface ChartMark {
  readonly ms: number
  readonly words: string
}

/** What the charts of a page have in common. */
export interface ChartRoom {
  readonly times: Times
  readonly palette: Palette
  readonly crosshair: Crosshair
  /** When no gateway ran: shaded. */
  readonly outages: readonly Bounds[]
  readonly marks: readonly ChartMark[]
  /** Shows this span alone. */
  readonly zoom: (bounds: Bounds) => void
  /** Undoes that; null where the range is none that was zoomed to. */
  readonly zoomOut: (() => void) | null
  /** While something is dragged: what is drawn must not change. */
  readonly hold: (isHeld: boolean) => void
}

export const ChartRoomContext = createContext<ChartRoom | null>(null)

/** What the charts of a page have in common. */
export function useChartRoom(): ChartRoom {
  const room = useContext(ChartRoomContext)
  if (room === null) throw new Error('charts want a ChartRoomContext around them')
  return room
}
