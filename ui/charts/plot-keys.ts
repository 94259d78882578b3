/** A bucket, or one row of a bucket. */
export interface PointedCell {
  readonly index: number
  /** The row, counted from the bottom (0); null for the whole bucket. */
  readonly level: number | null
}

const far = 10

/** Returns the cell that a key moves to, in buckets 0 to `last` and rows 0 to `levels` − 1. Null for other keys. */
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

/** Returns the row at a share of the height from the top; null without rows. */
export function levelAt(shareFromTop: number, levels: number): number | null {
  if (levels === 0) return null
  return Math.min(levels - 1, Math.max(0, Math.floor((1 - shareFromTop) * levels)))
}

/**
 * True if a chart got its focus by the keyboard. Such a chart keeps its cell when the pointer leaves, because the
 * page may have moved under a resting mouse.
 */
export function isReadByKeys(chart: Element): boolean {
  return chart.matches(':focus-visible')
}
