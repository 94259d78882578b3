import { useTimes } from '../data/navigation.tsx'
import { type ChartMark, eventFlags } from './event-flags.ts'
import type { TimeFrame } from './time-frame.ts'

export interface PlotFlagsProps {
  readonly frame: TimeFrame
  readonly marks: readonly ChartMark[]
  /** The width of the plot in pixels, beside text of 16 pixels. */
  readonly widthPx: number
}

/** The labels of events above a plot. Screen readers get the events from the plot. */
export function PlotFlags({ frame, marks, widthPx }: PlotFlagsProps) {
  const times = useTimes()
  return (
    <>
      {eventFlags(marks, frame, widthPx).map(({ words, leftPx, marks }) => (
        <div
          key={leftPx}
          class={`plot-flag ${leftPx < widthPx / 2 ? '' : 'at-end'}`}
          style={{ left: `${leftPx / 16}rem` }}
          aria-hidden="true"
        >
          {words}
          <ul>
            {marks.map(({ ms, words }) => (
              <li key={ms}>
                <span class="quiet">{times.short(ms, frame.toMs)}</span> {words}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  )
}
