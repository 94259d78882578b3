import type { ColourName } from './palette.ts'
import { dotPath, linePath } from './svg-path.ts'

export interface SparklineProps {
  readonly values: readonly (number | null)[]
  readonly colour: ColourName
}

const width = 200
const height = 28

/** The course of a figure, from 0 to its highest value, without numbers or gaps. */
export function Sparkline({ values, colour }: SparklineProps) {
  const high = Math.max(0, ...values.map((value) => value ?? 0))
  const points = values.flatMap((value, index) =>
    value === null
      ? []
      : [
          {
            x: values.length < 2 ? width / 2 : (index / (values.length - 1)) * width,
            y: height - (high === 0 ? 0 : value / high) * height,
          },
        ],
  )
  return (
    <svg
      class="sparkline"
      viewBox={`0 -2 ${width} ${height + 4}`}
      preserveAspectRatio="none"
      style={{ color: `var(--${colour})` }}
      aria-hidden="true"
    >
      <path
        {...(points.length === 1 && { class: 'sparkline-dots' })}
        d={points.length === 1 ? points.map(dotPath).join('') : linePath(points)}
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}
