import type { Bounds } from '../charts/time-frame.ts'
import type { FigureCard } from '../design/figure-cards.tsx'
import { calendarBounds } from '../data/calendar-ranges.ts'
import { dollars, orDash } from '../format/figures.ts'
import type { SpendFigures } from './spend-figures.ts'

/** The number of full days whose mean is assumed for the coming days. */
const daysLookedAt = 7
const dayMs = 86_400_000

/** The spend of a day; `key` is its date, such as `2026-11-21`. */
export type SpendDay = Pick<SpendFigures, 'cost_usd'> & { readonly key: string }

/** The spend of the current month so far, and its forecast. */
export interface MonthForecast {
  readonly soFarUsd: number
  /** The forecast for the end of the month; null without a full day to compute it from. */
  readonly endUsd: number | null
}

/** Returns the range that a forecast needs: the current month, and the week before today. */
export function forecastBounds(nowMs: number, utc: boolean): Bounds {
  const { fromMs: monthMs } = calendarBounds('This month', nowMs, utc)
  const { fromMs: weekMs } = calendarBounds('Today', nowMs - daysLookedAt * dayMs, utc)
  return { fromMs: Math.min(monthMs, weekMs), toMs: nowMs }
}

/**
 * Returns a forecast from consecutive days, of which the last is today. Recording began on `firstDay`; since then, days
 * that are missing before the others had no calls. Null if no day has a cost.
 */
export function monthForecast(days: readonly SpendDay[], firstDay: string): MonthForecast | null {
  const today = days.at(-1)
  if (today === undefined || days.every(({ cost_usd: usd }) => usd === null)) return null
  const month = today.key.slice(0, 7)
  const spent = (some: readonly SpendDay[]): number =>
    some.reduce((sum, { cost_usd: usd }) => sum + (usd ?? 0), 0)
  const soFarUsd = spent(days.filter(({ key }) => key.startsWith(month)))
  const recordedDays = (Date.parse(today.key) - Date.parse(firstDay)) / dayMs
  const fullDays = Math.min(daysLookedAt, recordedDays)
  if (fullDays <= 0) return { soFarUsd, endUsd: null }
  const perDay = spent(days.slice(0, -1).slice(-fullDays)) / fullDays
  const [year = 0, number = 0, dayOfMonth = 0] = today.key.split('-').map(Number)
  const daysToCome = new Date(Date.UTC(year, number, 0)).getUTCDate() - dayOfMonth
  const restOfToday = Math.max(0, perDay - spent([today]))
  return { soFarUsd, endUsd: soFarUsd + restOfToday + perDay * daysToCome }
}

/** Returns the card of the forecast and of the month's budget. */
export function monthCard(forecast: MonthForecast | null, budgetUsd: number | null): FigureCard {
  return {
    words: 'Forecast this month',
    meaning:
      'Month’s spend if each remaining day costs the average of the last seven full days. Uses the filters, not the range. Set a budget below.',
    value: orDash(forecast?.endUsd ?? null, dollars),
    change: null,
    tone:
      budgetUsd !== null && (forecast?.endUsd ?? forecast?.soFarUsd ?? 0) > budgetUsd ? 'warn' : undefined,
    fact: forecast === null ? '' : `${dollars(forecast.soFarUsd)} so far`,
    note: budgetUsd === null ? '' : `budget ${dollars(budgetUsd)}`,
    to: { view: 'costs', range: { last: 'month' } },
  }
}
