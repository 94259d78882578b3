import { duration } from '../format/figures.ts'
import { type TimedCall, barParts, barPieces, callPhases, phases } from './call-phases.ts'

export interface WaterfallProps {
  readonly call: TimedCall
  /** The time of a full bar; equal for all bars of a list (`barScaleMs`). */
  readonly scaleMs: number
}

/** The phases of a call as a bar: wait, time to the first token, streaming. */
export function Waterfall({ call, scaleMs }: WaterfallProps) {
  const words = callPhases(call)
    .filter(({ lengthMs }) => lengthMs >= 0.01)
    .map(({ name, lengthMs }) => `${phases[name].words} ${duration(lengthMs)}`)
    .join(' · ')
  return (
    <span
      class={`waterfall ${(call.duration_ms ?? 0) > scaleMs ? 'is-cut' : ''}`}
      role="img"
      aria-label={words === '' ? 'Unknown' : words}
      title={words}
    >
      <BarPieces call={call} scaleMs={scaleMs} />
    </span>
  )
}

/** The coloured parts of a call's bar. */
export function BarPieces({ call, scaleMs }: WaterfallProps) {
  return (
    <>
      {barPieces(call, scaleMs).map(({ part, start, length }) => (
        <span
          key={part}
          style={{ '--part': barParts[part].colour, left: shareWords(start), width: shareWords(length) }}
        />
      ))}
    </>
  )
}

/** The legend of the bars' colours. */
export function WaterfallLegend() {
  return (
    <ul class="waterfall-legend row wraps finest" aria-label="Parts of a call">
      {Object.values(barParts).map(({ words, colour }) => (
        <li key={words} class="colour-key" style={{ '--part': colour }}>
          {words}
        </li>
      ))}
    </ul>
  )
}

function shareWords(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
