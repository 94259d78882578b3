import type { ColourName } from './palette.ts'
import { sparkPath } from './spark-path.ts'

export interface SparklineProps {
  readonly values: readonly (number | null)[]
  readonly colour: ColourName
}

const width = 200
const height = 28

/** The course of a figure, small and without numbers: the chart below has them. */
export function Sparkline({ values, colour }: SparklineProps) {
  const { line, dots } = sparkPath(values, width, height)
  return (
    <svg
      class="sparkline"
      viewBox={`0 -2 ${width} ${height + 4}`}
      preserveAspectRatio="none"
      style={{ color: `var(--${colour})` }}
      aria-hidden="true"
    >
      <path d={line} vector-effect="non-scaling-stroke" />
      {/* A line of no length with round ends is a dot that stays round, however the drawing is stretched. */}
      <path
        class="sparkline-dots"
        d={dots.map(({ x, y }) => `M${x} ${y}h0`).join('')}
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}
