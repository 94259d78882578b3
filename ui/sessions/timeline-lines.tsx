import { useMemo } from 'preact/hooks'
import { type Observable, useObservable } from '../data/observable.ts'
import { count, dollars, percent } from '../format/figures.ts'
import { shownText } from '../payloads/shown-text.ts'
import { type CoursePoint, type TimelineView, courseLines, pointAt } from './session-course.ts'
import { linePath } from './timeline-drawing.ts'

/** The height of a line chart. */
const linePx = 44

interface LineKind {
  readonly words: string
  readonly name: 'prompt' | 'cached' | 'cost'
  /** The name of the page's colour. */
  readonly colour: 'first' | 'stream' | 'cost'
  readonly format: (value: number) => string
}

const kinds: readonly LineKind[] = [
  { words: 'Prompt tokens', name: 'prompt', colour: 'first', format: count },
  { words: 'Cached share', name: 'cached', colour: 'stream', format: percent },
  { words: 'Cost so far', name: 'cost', colour: 'cost', format: dollars },
]

export interface TimelineLinesProps {
  readonly view: TimelineView
  /** The start of the call under the pointer, in milliseconds since the session began; null without one. */
  readonly pointed: Observable<number | null>
}

/** The course of prompt, cache and cost, with the figures of the call under the pointer. */
export function TimelineLines({ view, pointed }: TimelineLinesProps) {
  const { pieces, axisPx, fromPx, toPx, pxOf } = view
  const lines = useMemo(() => courseLines(view), [pieces])
  const left = Math.max(0, fromPx)
  const width = Math.max(1, Math.min(axisPx, toPx) - left)
  return (
    <div class="timeline-lines">
      {kinds.map(({ words, name, colour, format }) => {
        const points = lines[name]
        if (points.length === 0) return null
        // A share has a scale up to 100%.
        const most = name === 'cached' ? 1 : points.reduce((high, { value }) => Math.max(high, value), 0)
        const { line, area } = linePath(points, pxOf, most, {
          left,
          width,
          height: linePx,
          end: axisPx,
        })
        return (
          <div key={name} class="timeline-line" style={{ '--part': `var(--${colour})` }}>
            <span class="timeline-line-words">
              {words}
              <span class="quiet">
                {name !== 'cost' && lines.model !== null && ` of ${shownText(lines.model)}`}
                {name !== 'cached' && `, up to ${format(most)}`}
              </span>
              <PointedValue points={points} pointed={pointed} format={format} />
            </span>
            <svg width={width} height={linePx + 2} style={{ marginLeft: `${left}px` }}>
              <path class="area" d={area} />
              <path class="line" d={line} />
            </svg>
          </div>
        )
      })}
      <PointedMark pxOf={pxOf} pointed={pointed} />
    </div>
  )
}

interface PointedValueProps extends Pick<TimelineLinesProps, 'pointed'> {
  readonly points: readonly CoursePoint[]
  readonly format: (value: number) => string
}

/** A separate component, so that the pointer renders only this figure and the mark. */
function PointedValue({ points, pointed, format }: PointedValueProps) {
  const ms = useObservable(pointed)
  const point = ms === null ? null : pointAt(points, ms)
  return point && <strong>{format(point.value)}</strong>
}

type PointedMarkProps = Pick<TimelineLinesProps, 'pointed'> & Pick<TimelineView, 'pxOf'>

function PointedMark({ pxOf, pointed }: PointedMarkProps) {
  const ms = useObservable(pointed)
  return ms === null ? null : <i class="timeline-pointed" style={{ left: `${pxOf(ms)}px` }} />
}
