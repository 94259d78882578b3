import { duration } from '../format/figures.ts'
import { type BarPart, type TimedCall, barPieces, callPhases, partColour } from './call-phases.ts'
import { phaseWords } from './call-text.ts'

export interface WaterfallProps {
  readonly call: TimedCall
  /** The time of a full bar; equal for all bars of a list (`barScaleMs`). */
  readonly scaleMs: number
}

/** The phases of a call as a bar: wait, time to the first token, streaming. */
export function Waterfall({ call, scaleMs }: WaterfallProps) {
  const words = callPhases(call)
    .filter(({ lengthMs }) => lengthMs >= 0.01)
    .map(({ name, lengthMs }) => `${phaseWords[name]} ${duration(lengthMs)}`)
    .join(' · ')
  return (
    <span
      class={`waterfall ${(call.duration_ms ?? 0) > scaleMs ? 'is-cut' : ''}`}
      role="img"
      aria-label={words === '' ? 'Unknown' : words}
      title={words}
    >
      {barPieces(call, scaleMs).map(({ part, start, length }) => (
        <span
          key={part}
          style={{ '--part': partColour[part], left: shareWords(start), width: shareWords(length) }}
        />
      ))}
    </span>
  )
}

const partWords: Readonly<Record<BarPart, string>> = {
  receive: 'Receiving',
  wait: 'Waiting',
  first: 'To first token',
  stream: 'Streaming',
  answer: 'Not streamed',
}

/** The legend of the bars' colours. */
export function WaterfallLegend() {
  return (
    <ul class="waterfall-legend row wraps finest" aria-label="Parts of a call">
      {Object.entries(partWords).map(([part, words]) => (
        <li key={part} class="colour-key" style={{ '--part': partColour[part as BarPart] }}>
          {words}
        </li>
      ))}
    </ul>
  )
}

function shareWords(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
