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

/** Draws lines and bars; everything else of a plot is not on its canvas. */
export function drawSeries(context: CanvasRenderingContext2D, drawing: Drawing): void {
  context.lineJoin = 'round'
  for (const one of inDrawingOrder(drawing.series)) {
    const values = drawnValues(one, drawing.series)
    if (one.each !== undefined) drawDots(context, drawing, one, one.each)
    else if (one.kind === 'bars') drawBars(context, drawing, one, values)
    else drawLine(context, drawing, one, values)
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

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
}

/** Each bar fills its bucket: those that the range cuts are narrower. */
function boxesOf({ frame, scale, width, height }: Drawing, values: Values): readonly (Box | null)[] {
  return values.map((value, index) => {
    if (value === null || value <= 0) return null
    const { fromMs, toMs } = bucketBounds(frame, index)
    return {
      left: shareOfTime(frame, fromMs) * width,
      right: shareOfTime(frame, toMs) * width,
      // What is there is seen, however little.
      top: height - Math.max(1, heightOf(scale, value) * height),
    }
  })
}

function drawBars(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  { colour, isSoft = false }: ChartSeries,
  values: Values,
): void {
  const { palette, height } = drawing
  const boxes = boxesOf(drawing, values)
  if (isSoft) {
    for (const run of runsOf(boxes)) drawSteps(context, run, palette[colour], height)
    return
  }
  context.fillStyle = palette[colour]
  for (const box of boxes) {
    if (box === null) continue
    const room = box.right - box.left
    context.fillRect(box.left, box.top, Math.max(0.5, room - Math.min(barGapPx, room / 4)), height - box.top)
  }
}

/** Bars side by side as one area with an edge. */
function drawSteps(
  context: CanvasRenderingContext2D,
  boxes: readonly Box[],
  colour: string,
  height: number,
): void {
  const [first] = boxes
  const last = boxes.at(-1)
  if (first === undefined || last === undefined) return
  const edge = new Path2D()
  for (const { left, right, top } of boxes) {
    edge.lineTo(left, top)
    edge.lineTo(right, top)
    context.clearRect(left, top, right - left, height - top)
  }
  const ground = new Path2D(edge)
  ground.lineTo(last.right, height)
  ground.lineTo(first.left, height)
  context.fillStyle = faded(colour, softShare)
  // A drawing is filled here, not a list.
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type
  context.fill(ground)
  context.strokeStyle = colour
  context.lineWidth = edgePx
  context.setLineDash([])
  context.stroke(edge)
}

function drawLine(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  series: ChartSeries,
  values: Values,
): void {
  const { series: all, palette, height } = drawing
  const colour = palette[series.colour]
  const points = pointsOf(drawing, values)
  const lower = all.find(({ key }) => key === series.fillTo)
  if (series.fillTo === 'bottom' || lower !== undefined) {
    context.fillStyle = faded(colour, fillShare)
    const floor =
      lower === undefined
        ? points.map((point) => point && { x: point.x, y: height })
        : pointsOf(drawing, drawnValues(lower, all))
    fillBetween(context, points, floor)
  }
  context.strokeStyle = colour
  context.fillStyle = colour
  context.lineWidth = series.isDashed === true ? dashedPx : linePx
  context.setLineDash(series.isDashed === true ? dash : [])
  for (const run of runsOf(points)) {
    const [first] = run
    if (run.length === 1 && first !== undefined) {
      drawDot(context, drawing, first)
      continue
    }
    context.beginPath()
    for (const { x, y } of run) context.lineTo(x, y)
    context.stroke()
  }
}

function drawDots(
  context: CanvasRenderingContext2D,
  drawing: Drawing,
  { colour }: ChartSeries,
  each: readonly (readonly number[])[],
): void {
  context.fillStyle = drawing.palette[colour]
  for (const [index, values] of each.entries()) {
    for (const value of values) drawDot(context, drawing, pointAt(drawing, index, value))
  }
}

/** All of it, also at the edge: what is newest lies there. */
function drawDot(context: CanvasRenderingContext2D, { width, height }: Drawing, { x, y }: Point): void {
  const within = (at: number, room: number): number => Math.min(Math.max(at, dotPx), room - dotPx)
  context.beginPath()
  context.arc(within(x, width), within(y, height), dotPx, 0, 2 * Math.PI)
  context.fill()
}

interface Point {
  readonly x: number
  readonly y: number
}

function pointsOf(drawing: Drawing, values: Values): readonly (Point | null)[] {
  return values.map((value, index) => (value === null ? null : pointAt(drawing, index, value)))
}

function pointAt({ frame, scale, width, height }: Drawing, index: number, value: number): Point {
  return {
    x: shareOfTime(frame, bucketMiddle(frame, index)) * width,
    y: (1 - heightOf(scale, value)) * height,
  }
}

function fillBetween(
  context: CanvasRenderingContext2D,
  upper: readonly (Point | null)[],
  lower: readonly (Point | null)[],
): void {
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
