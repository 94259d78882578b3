/** A bucket, and a row of it where there are some. */
export interface PointedCell {
  readonly index: number
  /** From the bottom, 0 on; null for the bucket as a whole. */
  readonly level: number | null
}

const far = 10

/** The cell that a key moves to, in buckets 0 to `last` and rows 0 to `levels` − 1; null for other keys. */
export function keyStep(
  key: string,
  { index, level }: PointedCell,
  last: number,
  levels: number,
): PointedCell | null {
  const at = (bucket: number): PointedCell => ({ index: Math.min(last, Math.max(0, bucket)), level })
  const up = (by: number): PointedCell => {
    if (levels === 0) return at(index + by)
    const from = level ?? (by > 0 ? -1 : levels)
    return { index, level: Math.min(levels - 1, Math.max(0, from + by)) }
  }
  const moves: Readonly<Record<string, PointedCell>> = {
    ArrowLeft: at(index - 1),
    ArrowRight: at(index + 1),
    ArrowUp: up(1),
    ArrowDown: up(-1),
    PageUp: at(index + far),
    PageDown: at(index - far),
    Home: at(0),
    End: at(last),
  }
  return moves[key] ?? null
}

/** The row at a share of the height, counted from the top; null where there are none. */
export function levelAt(shareFromTop: number, levels: number): number | null {
  if (levels === 0) return null
  return Math.min(levels - 1, Math.max(0, Math.floor((1 - shareFromTop) * levels)))
}

/**
 * A chart with the focus, not from a press of the pointer. Such a chart keeps its place when the pointer leaves it, as that also
 * happens when it moves away under a mouse that lies still.
 */
export function isReadByKeys(chart: Element): boolean {
  return chart.matches(':focus-visible')
}
