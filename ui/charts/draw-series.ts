import { type ChartScale, heightOf } from './chart-scale.ts'
import { type ChartSeries, drawnValues, seriesBelow } from './chart-series.ts'
import {
  type Box,
  type DrawnPath,
  type Point,
  areaPath,
  dotPath,
  linePath,
  rectPath,
  runsOf,
} from './svg-path.ts'
import { type TimeFrame, bucketBounds, bucketMiddle, shareOfTime } from './time-frame.ts'

export interface Drawing {
  readonly frame: TimeFrame
  readonly scale: ChartScale
  /** The series to draw. The first is drawn above the others. */
  readonly series: readonly ChartSeries[]
  /** The size in pixels. */
  readonly width: number
  readonly height: number
}

const barGapPx = 1
const dotPx = 2.5
const softOpacity = 0.22
const fillOpacity = 0.13
const bridgeOpacity = 0.4
/** A line connects its points over at most this many buckets without a value. */
const mostBridged = 8

/** Returns the paths of lines, areas, bars and dots. Later paths are drawn above earlier ones. */
export function drawSeries({ frame, scale, series, width, height }: Drawing): readonly DrawnPath[] {
  const xOf = (ms: number): number => shareOfTime(frame, ms) * width
  const yOf = (value: number): number => (1 - heightOf(scale, value)) * height
  const pointAt = (index: number, value: number): Point => ({
    x: xOf(bucketMiddle(frame, index)),
    y: yOf(value),
  })
  const pointsOf = (item: ChartSeries): readonly (Point | null)[] =>
    drawnValues(item, series).flatMap((value, index) => {
      if (value === null) return [null]
      if (item.isStepped !== true) return [pointAt(index, value)]
      const { fromMs, toMs } = bucketBounds(frame, index)
      return [fromMs, toMs].map((ms) => ({ x: xOf(ms), y: yOf(value) }))
    })
  /** Returns the boxes of bars. Each fills its bucket; buckets cut by the range are narrower. */
  const boxesOf = (item: ChartSeries): readonly (Box | null)[] => {
    const below = seriesBelow(item, series)
    const feet = below === undefined ? [] : drawnValues(below, series)
    return drawnValues(item, series).map((value, index) => {
      const foot = feet[index] ?? 0
      if (value === null || value <= foot) return null
      const { fromMs, toMs } = bucketBounds(frame, index)
      const bottom = yOf(foot)
      // Even the least value is visible.
      return { left: xOf(fromMs), right: xOf(toMs), top: Math.min(bottom - 1, yOf(value)), bottom }
    })
  }
  /** Moves a dot that touches the edge inwards, because the newest call is there. */
  const dot = ({ x, y }: Point): string => {
    const within = (at: number, room: number): number => Math.min(Math.max(at, dotPx), room - dotPx)
    return dotPath({ x: within(x, width), y: within(y, height) })
  }

  const drawBars = (item: ChartSeries): readonly DrawnPath[] => {
    const { colour } = item
    const boxes = boxesOf(item)
    if (item.isSoft !== true) {
      return [{ kind: 'area', colour, d: boxes.map((box) => box && rectPath(narrowed(box))).join('') }]
    }
    const edges = runsOf(boxes).map((run) =>
      run.flatMap(({ left, right, top }) => [
        { x: left, y: top },
        { x: right, y: top },
      ]),
    )
    const d = edges.map((edge) => areaPath(edge, height)).join('')
    return [
      { kind: 'area', colour, opacity: softOpacity, d },
      { kind: 'line', colour, d: edges.map(linePath).join('') },
    ]
  }

  const drawLine = (item: ChartSeries): readonly DrawnPath[] => {
    const { colour, fillTo, isDashed = false } = item
    const points = pointsOf(item)
    const lower = series.find(({ key }) => key === fillTo)
    const feet = lower && pointsOf(lower)
    const pairs = points.map((above, index) => {
      const below = feet === undefined ? above && { x: above.x, y: height } : feet[index]
      return above && below ? { above, below } : null
    })
    // Buckets with too few calls have no percentile. A faint line connects the buckets around them.
    const bridged = item.missing === undefined ? 0 : mostBridged
    const areas = runsOf(feet === undefined && fillTo !== 'bottom' ? [] : pairs, bridged).map((run) =>
      run.map(({ above }) => above).concat(run.map(({ below }) => below).reverse()),
    )
    const runs = runsOf(points)
    const [dots, lines] = [runs.filter(({ length }) => length === 1), runs.filter(({ length }) => length > 1)]
    return [
      { kind: 'area', colour, opacity: fillOpacity, d: areas.map(linePath).join('') },
      {
        kind: 'line',
        colour,
        opacity: bridgeOpacity,
        d: bridged === 0 ? '' : runsOf(points, bridged).map(linePath).join(''),
      },
      { kind: isDashed ? 'dashed' : 'line', colour, d: lines.map(linePath).join('') },
      { kind: 'dots', colour, d: dots.flatMap((run) => run.map(dot)).join('') },
    ]
  }

  const drawDots = ({ colour, dots = [] }: ChartSeries): readonly DrawnPath[] => {
    const paths = dots.flatMap((values, index) => values.map((value) => dot(pointAt(index, value))))
    return [{ kind: 'dots', colour, d: paths.join('') }]
  }

  const bars = series.filter(({ kind }) => kind === 'bars')
  const others = series.filter(({ kind }) => kind !== 'bars').reverse()
  return [
    ...bars.flatMap(drawBars),
    ...others.flatMap((item) => (item.kind === 'dots' ? drawDots(item) : drawLine(item))),
  ]
}

function narrowed({ left, right, ...rest }: Box): Box {
  const room = right - left
  return { ...rest, left, right: left + Math.max(0.5, room - Math.min(barGapPx, room / 4)) }
}
