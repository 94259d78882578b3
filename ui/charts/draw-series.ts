import { type ChartScale, heightOf } from './chart-scale.ts'
import { type ChartSeries, drawnValues, seriesBelow } from './chart-series.ts'
import { type Palette, faded } from './palette.ts'
import { type TimeFrame, bucketBounds, bucketMiddle, shareOfTime } from './time-frame.ts'

export interface Drawing {
  readonly frame: TimeFrame
  readonly scale: ChartScale
  /** The first one is drawn above the others. */
  readonly series: readonly ChartSeries[]
  readonly palette: Palette
  /** In CSS pixels. */
  readonly width: number
  readonly height: number
}

const barGapPx = 1
const edgePx = 1.5
const softShare = 0.22
const linePx = 1.75
const dashedPx = 1.25
const dash = [4, 3]
const dotPx = 2.5
const fillShare = 0.13

type Values = readonly (number | null)[]

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Draws lines and bars; everything else of a plot is not on its canvas. */
export function drawSeries(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { frame, scale, series, palette, width, height } = drawing
  const xOf = (ms: number): number => shareOfTime(frame, ms) * width
  const pointAt = (index: number, value: number): Point => ({
    x: xOf(bucketMiddle(frame, index)),
    y: (1 - heightOf(scale, value)) * height,
  })
  const pointsOf = (values: Values): readonly (Point | null)[] =>
    values.map((value, index) => (value === null ? null : pointAt(index, value)))
  /** Each bar fills its bucket: those that the range cuts are narrower. */
  const boxesOf = (values: Values): readonly (Box | null)[] =>
    values.map((value, index) => {
      if (value === null || value <= 0) return null
      const { fromMs, toMs } = bucketBounds(frame, index)
      // What is there is seen, however little.
      return {
        left: xOf(fromMs),
        right: xOf(toMs),
        top: height - Math.max(1, heightOf(scale, value) * height),
      }
    })

  const drawBars = (values: Values): void => {
    for (const box of boxesOf(values)) {
      if (box === null) continue
      const room = box.right - box.left
      const barPx = Math.max(0.5, room - Math.min(barGapPx, room / 4))
      context.fillRect(box.left, box.top, barPx, height - box.top)
    }
  }

  /** Bars side by side as one area with an edge. */
  const drawSteps = (values: Values, colour: string): void => {
    for (const boxes of runsOf(boxesOf(values))) {
      const edge = new Path2D()
      for (const { left, right, top } of boxes) {
        edge.lineTo(left, top)
        edge.lineTo(right, top)
        context.clearRect(left, top, right - left, height - top)
      }
      const ground = new Path2D(edge)
      ground.lineTo(boxes.at(-1)?.right ?? 0, height)
      ground.lineTo(boxes[0]?.left ?? 0, height)
      context.fillStyle = faded(colour, softShare)
      // A drawing is filled here, not a list.
      // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type
      context.fill(ground)
      context.strokeStyle = colour
      context.lineWidth = edgePx
      context.setLineDash([])
      context.stroke(edge)
    }
  }

  /** All of it, also at the edge: what is newest lies there. */
  const drawDot = ({ x, y }: Point): void => {
    const within = (at: number, room: number): number => Math.min(Math.max(at, dotPx), room - dotPx)
    context.beginPath()
    context.arc(within(x, width), within(y, height), dotPx, 0, 2 * Math.PI)
    context.fill()
  }

  const fillBetween = (upper: readonly (Point | null)[], lower: readonly (Point | null)[]): void => {
    const pairs = upper.map((above, index) => {
      const below = lower[index] ?? null
      return above === null || below === null ? null : { above, below }
    })
    for (const run of runsOf(pairs)) {
      context.beginPath()
      for (const { above } of run) context.lineTo(above.x, above.y)
      for (const { below } of run.toReversed()) context.lineTo(below.x, below.y)
      context.fill()
    }
  }

  const drawLine = ({ fillTo, isDashed = false }: ChartSeries, values: Values, colour: string): void => {
    const points = pointsOf(values)
    const lower = series.find(({ key }) => key === fillTo)
    context.fillStyle = faded(colour, fillShare)
    if (lower !== undefined) fillBetween(points, pointsOf(drawnValues(lower, series)))
    else if (fillTo === 'bottom')
      fillBetween(
        points,
        points.map((point) => point && { x: point.x, y: height }),
      )
    context.strokeStyle = colour
    context.fillStyle = colour
    context.lineWidth = isDashed ? dashedPx : linePx
    context.setLineDash(isDashed ? dash : [])
    for (const run of runsOf(points)) {
      const [first] = run
      if (run.length === 1 && first !== undefined) {
        drawDot(first)
        continue
      }
      context.beginPath()
      for (const { x, y } of run) context.lineTo(x, y)
      context.stroke()
    }
  }

  context.lineJoin = 'round'
  for (const one of inDrawingOrder(series)) {
    const values = drawnValues(one, series)
    const colour = palette[one.colour]
    context.fillStyle = colour
    if (one.each !== undefined) {
      for (const [index, each] of one.each.entries()) for (const value of each) drawDot(pointAt(index, value))
    } else if (one.kind !== 'bars') drawLine(one, values, colour)
    else if (one.isSoft === true) drawSteps(values, colour)
    else drawBars(values)
  }
}

/** What is drawn later lies above, and bars that others stand on cover the feet of these. */
function inDrawingOrder(series: readonly ChartSeries[]): readonly ChartSeries[] {
  const floor = (one: ChartSeries): number => {
    const below = seriesBelow(one, series)
    return below === undefined ? 0 : floor(below) + 1
  }
  const bars = series.filter(({ kind }) => kind === 'bars')
  return [
    ...bars.toSorted((one, other) => floor(other) - floor(one)),
    ...series.filter(({ kind }) => kind !== 'bars').reverse(),
  ]
}

/** What is there without a gap between, piece by piece: where a line is drawn through. */
export function runsOf<Value>(values: readonly (Value | null)[]): readonly (readonly Value[])[] {
  const runs: Value[][] = []
  let run: Value[] | null = null
  for (const value of values) {
    if (value === null) run = null
    else if (run === null) runs.push((run = [value]))
    else run.push(value)
  }
  return runs
}
