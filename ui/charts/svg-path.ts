import type { ColourName } from './palette.ts'

/** A path of a drawing, in CSS pixels. */
export interface DrawnPath {
  readonly kind: 'area' | 'line' | 'dashed' | 'dots'
  readonly colour: ColourName
  readonly opacity?: number
  readonly d: string
}

/** A point, in CSS pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A rectangle, in CSS pixels. */
export interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Returns the path of straight lines between points. */
export function linePath(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${short(x)} ${short(y)}`).join('')
}

/** Returns the path of the area between a line and `bottom`. */
export function areaPath(line: readonly Point[], bottom: number): string {
  const [first, last] = [line[0], line.at(-1)]
  if (first === undefined || last === undefined) return ''
  return `${linePath(line)}V${short(bottom)}H${short(first.x)}Z`
}

/** Returns the path of a rectangle. */
export function rectPath({ left, right, top, bottom }: Box): string {
  return `M${short(left)} ${short(top)}H${short(right)}V${short(bottom)}H${short(left)}Z`
}

/** Returns the path of a line without length. Round ends make a dot, however the drawing is stretched. */
export function dotPath({ x, y }: Point): string {
  return `M${short(x)} ${short(y)}h0`
}

/** Splits values into runs without null. A run may skip up to `bridged` nulls in a row (default: 0). */
export function runsOf<Value>(
  values: readonly (Value | null)[],
  bridged: number = 0,
): readonly (readonly Value[])[] {
  const runs: Value[][] = []
  let gaps = Infinity
  for (const value of values) {
    if (value === null) gaps += 1
    else {
      if (gaps > bridged) runs.push([])
      runs.at(-1)?.push(value)
      gaps = 0
    }
  }
  return runs
}

function short(value: number): number {
  return Math.round(value * 100) / 100
}
