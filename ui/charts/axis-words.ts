import { count, shortCount } from '../format/figures.ts'

const narrowSpace = '\u202f'

/** A time at the side of a plot, from milliseconds: 0, 50 ms, 1.5 s, 200 s. */
export function axisDuration(ms: number): string {
  if (ms === 0) return '0'
  if (ms < 1000) return `${ms}${narrowSpace}ms`
  const s = ms / 1000
  return `${s < 10_000 ? s : count(s)}${narrowSpace}s`
}

/** A count at the side of a plot. */
export function axisCount(value: number): string {
  return Number.isInteger(value) ? shortCount(value) : String(value)
}
