/** Where a sparkline goes: an SVG path in a room of `width` by `height`, and dots for values without neighbours. */
export interface SparkPath {
  readonly line: string
  readonly dots: readonly { readonly x: number; readonly y: number }[]
}

/** From 0 at the bottom to the highest value at the top; gaps stay gaps. */
export function sparkPath(values: readonly (number | null)[], width: number, height: number): SparkPath {
  const high = Math.max(...values.map((value) => value ?? Number.NEGATIVE_INFINITY))
  if (!Number.isFinite(high)) return { line: '', dots: [] }
  const x = (index: number): number =>
    rounded(values.length < 2 ? width / 2 : (index / (values.length - 1)) * width)
  const y = (value: number): number => rounded(height - (high <= 0 ? 0 : value / high) * height)
  let line = ''
  let isDown = false
  const dots: { readonly x: number; readonly y: number }[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isDown = false
      continue
    }
    const hasNext = (values[index + 1] ?? null) !== null
    if (isDown || hasNext) line += `${isDown ? 'L' : 'M'}${x(index)} ${y(value)}`
    else dots.push({ x: x(index), y: y(value) })
    isDown = true
  }
  return { line, dots }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
