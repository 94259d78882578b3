import './costs.css'
import type { AlertsReport } from '../../src/api/alerts.ts'
import { isDragging } from '../charts/plot.tsx'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { byWords, isFiltered } from '../data/page-address.ts'
import { refreshEveryMs } from '../data/page-range.ts'
import { useQuery } from '../data/use-query.ts'
import { useObservable } from '../data/observable.ts'
import { Card } from '../design/card.tsx'
import { type FigureCard, FigureCards } from '../design/figure-cards.tsx'
import { Awaited } from '../design/awaited.tsx'
import { NoCallsCard } from '../empty-states/no-calls.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { wallTimeOf } from '../format/wall-time.ts'
import { MonthBudget, type MonthBudgetProps } from './month-budget.tsx'
import { type SpendDay, forecastBounds, monthCard, monthForecast } from './month-forecast.ts'
import { freeModels } from '../data/free-calls.ts'
import { PricesCard, pricesId } from './prices-card.tsx'
import { spendCards } from './spend-cards.ts'
import { SpendChart } from './spend-chart.tsx'
import { type SpendAnswer, freeCallsIn } from './spend-figures.ts'
import { spendBounds, spendPath } from './spend-question.ts'
import { SpendTable } from './spend-table.tsx'
import { type Prices, type Spend, usePrices, useSpend } from './use-costs.ts'

/** The view of spend over time and by group, and of the prices behind it. */
export function CostsView() {
  const { address } = useNavigation()
  const isHeld = useObservable(isDragging)
  const spend = useSpend(address, isHeld)
  const prices = usePrices(address, isHeld)
  const month = useMonth()
  const { answer, error, isStale } = spend
  const again = (): void => {
    spend.again()
    prices.again()
    month.again()
  }
  return (
    <>
      <FilterBar query={{ ...spend, again }} />
      <div class={`view stack ${isStale ? 'is-stale' : ''}`} aria-busy={isStale}>
        {answer === null && error !== null ? (
          <Awaited what="the spend" {...spend} />
        ) : (
          <SpendPart spend={spend} prices={prices} month={month} />
        )}
        <PricesCard
          prices={prices}
          bounds={spendBounds(address, spend.answeredMs ?? nowMs())}
          isFolded={answer?.resolution !== undefined}
          onRepriced={again}
        />
      </div>
    </>
  )
}

interface SpendPartProps {
  readonly spend: Spend
  readonly prices: Prices
  readonly month: Month
}

function SpendPart({ spend, prices, month }: SpendPartProps) {
  const { address } = useNavigation()
  const { answer: models, parts, partsError } = spend
  // Without the prices, self-hosted calls would be shown as unpriced.
  if (models === null || (prices.matches === null && prices.error === null)) {
    return (
      <>
        <div class="skeleton" style={{ height: '8rem' }} />
        <div class="skeleton" style={{ height: '20.5rem' }} />
      </>
    )
  }
  if (models.summary.calls === 0) return <NoCallsCard answer={models} />
  const free = freeCallsIn(models, prices.matches && freeModels(prices.matches.matches))
  const cards = spendCards(models, parts?.before?.summary ?? null, showPrices, free?.models ?? null)
  return (
    <>
      <FigureCards cards={[...cards, month.card]} class="spend-cards" />
      <MonthBudget budgetUsd={month.budgetUsd} onSaved={month.onSaved} />
      <SpendChart course={spend.course} free={free} />
      {partsError !== null ? (
        <Card title={`Spend by ${byWords(address.by).toLowerCase()}`}>
          <p class="quiet">{partsError}</p>
        </Card>
      ) : parts === null ? (
        <div class="skeleton" style={{ height: '18rem' }} />
      ) : (
        <SpendTable parts={parts} free={free} />
      )}
    </>
  )
}

/** The month's budget, and the card with the month's forecast, which `again` requests again. */
interface Month extends MonthBudgetProps {
  readonly card: FigureCard
  readonly again: () => void
}

function useMonth(): Month {
  const { address } = useNavigation()
  const { zone } = useTimes()
  const everyMs = refreshEveryMs({ last: '30d' })
  const { answer, again } = useQuery<SpendAnswer<SpendDay>>(
    (nowMs) => spendPath(address, forecastBounds(nowMs, address.utc), 'day', zone),
    { everyMs },
  )
  // The budget may also be set in another tab, on the Alerts view, or by a program.
  const rule = useLive(({ alertRules }) => alertRules['spend_month'])
  const { answer: alerts, put: onSaved } = useQuery<AlertsReport>('/api/alerts', {
    version: JSON.stringify(rule),
    everyMs,
  })
  const budgetUsd = alerts?.rules.find(({ code, on }) => code === 'spend_month' && on)?.threshold ?? null
  // The budget is for all calls, so it does not apply to filtered ones.
  const ofAll = isFiltered(address) ? null : budgetUsd
  const firstDay = wallTimeOf(Date.parse(answer?.recorded_from ?? '') || 0, address.utc).slice(0, 10)
  const card = monthCard(answer && monthForecast(answer.groups, firstDay), ofAll)
  return { card, budgetUsd, onSaved, again }
}

function showPrices(): void {
  const prices = document.getElementById(pricesId)
  prices?.scrollIntoView({ block: 'center' })
  prices?.focus({ preventScroll: true })
}
