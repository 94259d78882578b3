import { useState } from 'preact/hooks'
import type { Curves } from '../../src/call/figures.ts'
import { heightOf, linearScale, logScale } from '../charts/chart-scale.ts'
import { isReadByKeys, keyStep } from '../charts/plot-keys.ts'
import { curveWords } from '../data/page-address.ts'
import { curveMeasures } from './compare-figures.ts'

/** One line of the picture. */
export interface Curve {
  readonly words: string
  readonly colour: string
  readonly values: readonly (number | null)[]
}

export interface CurvePlotProps {
  readonly measure: keyof Curves
  readonly percentiles: readonly number[]
  readonly curves: readonly Curve[]
}

const heightPx = 240

/**
 * A measure from percentile to percentile, a line for each group, on a logarithmic scale. Whoever points at a percentile,
 * or goes there by the arrow keys, is told its values.
 */
export function CurvePlot({ measure, percentiles, curves }: CurvePlotProps) {
  const [pointed, point] = useState<number | null>(null)
  const words = curveWords[measure]
  const { show, axis } = curveMeasures[measure]
  const values = curves.flatMap((curve) => curve.values)
  const scale = logScale(values) ?? linearScale(values, { leastTop: 1 })
  const last = percentiles.length - 1
  const left = (at: number): number => (at / last) * 100
  const isEmpty = values.every((value) => value === null)
  const at = pointed ?? percentiles.indexOf(50)
  const move = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = keyStep(event.key, { index: at, level: null }, last, 0)
    if (step === null) return
    event.preventDefault()
    point(step.index)
  }
  const follow = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left: from, width } = (currentTarget as HTMLElement).getBoundingClientRect()
    point(Math.round(Math.min(1, Math.max(0, (clientX - from) / width)) * last))
  }
  return (
    <div class="plot curve-plot">
      <div class="plot-room" style={{ height: `${heightPx}px` }}>
        <div class="plot-ground" aria-hidden="true">
          {!isEmpty &&
            scale.ticks.map((tick) => (
              <span key={tick} class="plot-line" style={{ bottom: `${heightOf(scale, tick) * 100}%` }}>
                <span class="plot-value">{axis(tick)}</span>
              </span>
            ))}
          {percentiles.map((percentile, index) => (
            <span key={percentile} class="plot-time" style={{ left: `${left(index)}%` }}>
              p{percentile}
            </span>
          ))}
        </div>
        <svg class="curve-lines" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {curves.map(({ words: name, colour, values: own }) => (
            <path
              key={name}
              d={pathOf(
                own.map((value) => (value === null ? null : 100 - heightOf(scale, value) * 100)),
                left,
              )}
              style={{ stroke: `var(--${colour})` }}
            />
          ))}
        </svg>
        {isEmpty && <p class="plot-empty fine">Too few calls to compare</p>}
        <div
          class="plot-surface"
          role="slider"
          tabIndex={0}
          aria-label={`${words} by percentile`}
          aria-valuemin={percentiles[0]}
          aria-valuemax={percentiles[last]}
          aria-valuenow={percentiles[at]}
          aria-valuetext={`p${percentiles[at]}: ${spoken(curves, at, show)}`}
          onKeyDown={move}
          onFocus={() => point(at)}
          onBlur={() => point(null)}
          onPointerMove={follow}
          onPointerLeave={({ currentTarget }) => {
            if (!isReadByKeys(currentTarget)) point(null)
          }}
        >
          {pointed !== null && !isEmpty && <span class="plot-mark" style={{ left: `${left(pointed)}%` }} />}
        </div>
        {pointed !== null && !isEmpty && (
          <div
            class="plot-tip"
            style={
              left(pointed) > 50 ? { right: `${102 - left(pointed)}%` } : { left: `${left(pointed) + 2}%` }
            }
          >
            <p class="plot-tip-time">{percentiles[pointed]}% of calls within</p>
            <dl>
              {curves.map(({ words: name, colour, values: own }) => (
                <>
                  <dt>
                    <span class="swatch" style={{ color: `var(--${colour})` }} />
                    <span class="cut">{name}</span>
                  </dt>
                  <dd>{told(own[pointed], show)}</dd>
                </>
              ))}
            </dl>
          </div>
        )}
      </div>
    </div>
  )
}

function told(value: number | null | undefined, show: (value: number) => string): string {
  return value === null || value === undefined ? 'too few calls' : show(value)
}

function spoken(curves: readonly Curve[], at: number, show: (value: number) => string): string {
  return curves.map(({ words, values }) => `${words} ${told(values[at], show)}`).join(', ')
}

/** A line through all that is known, from one known place to the next. */
function pathOf(heights: readonly (number | null)[], left: (at: number) => number): string {
  return heights
    .flatMap((height, at) => (height === null ? [] : [`${left(at).toFixed(2)} ${height.toFixed(2)}`]))
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${point}`)
    .join('')
}
