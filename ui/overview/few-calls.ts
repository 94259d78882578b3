import type { OverviewMeasure } from '../../src/api/overview.ts'
import { honest } from '../charts/small-sample.ts'

/**
 * What can be said of a measure: its p95; of few calls the span that they lie in, where all of them are known one by
 * one; or their median and the longest; or the longest alone.
 */
export type Told =
  | { readonly kind: 'none' }
  | { readonly kind: 'p95'; readonly p95: number; readonly p50: number }
  | { readonly kind: 'span'; readonly n: number; readonly least: number; readonly most: number }
  | { readonly kind: 'median'; readonly n: number; readonly p50: number; readonly most: number }
  | { readonly kind: 'most'; readonly n: number; readonly most: number }

/** `known` are the values of all these calls or of some of them. */
export function told({ n, p50, p95, max }: OverviewMeasure, known: readonly number[]): Told {
  if (n === 0 || max === null) return { kind: 'none' }
  const honestP95 = honest('p95', p95, n)
  if (honestP95 !== null && p50 !== null) return { kind: 'p95', p95: honestP95, p50 }
  if (known.length === n) return { kind: 'span', n, least: Math.min(...known), most: Math.max(...known) }
  const honestP50 = honest('p50', p50, n)
  return honestP50 === null
    ? { kind: 'most', n, most: max }
    : { kind: 'median', n, p50: honestP50, most: max }
}
