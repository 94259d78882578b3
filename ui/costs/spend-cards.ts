import type { FigureCard } from '../design/figure-cards.tsx'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import { counted, dollars, orDash, percent, count, unknownFigure } from '../format/figures.ts'
import {
  type SpendAnswer,
  type SpendFigures,
  type SpendGroup,
  changeOfCost,
  freeCallsIn,
  isAmong,
  unpricedOf,
} from './spend-figures.ts'

/**
 * Returns the cards of spend: the total, the mean of a call, the unpriced part, and the most expensive model.
 * `freeModels` are the models whose unpriced calls nobody bills; null if this is unknown.
 */
export function spendCards(
  { summary, groups }: SpendAnswer<SpendGroup>,
  before: SpendFigures | null,
  showPrices: () => void,
  freeModels: ReadonlySet<string | null> | null,
): readonly FigureCard[] {
  const { cost_usd: usd, no_usage_calls: untold, calls } = summary
  const perThousand = costPerThousand(summary)
  const isFree = (group: SpendGroup): boolean => isAmong(freeModels, group)
  const freeCalls = freeCallsIn({ groups }, freeModels)?.calls ?? 0
  const billed = { ...summary, unpriced_calls: summary.unpriced_calls - freeCalls }
  const {
    calls: unpriced,
    callShare,
    tokenShare,
    isLeast,
  } = unpricedOf(
    billed,
    groups.filter((group) => !isFree(group)),
  )
  const tokens = tokenShare === null ? '' : `, ${isLeast ? 'at least ' : ''}${percent(tokenShare)} of tokens`
  const [dearest] = groups
    .filter(({ cost_usd: usd, rest }) => usd !== null && usd > 0 && rest !== true)
    .sort((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0))
  const most = dearest?.cost_usd ?? 0
  const model = dearest?.key ?? null
  return [
    {
      words: 'Spend',
      meaning:
        'Cost of the priced calls in this range. Calls without a price are counted separately, never as $0.',
      value: orDash(usd, dollars),
      change: changeOfCost(summary, before, ({ cost_usd: usd }) => usd, dollars),
      fact:
        summary.unpriced_calls > 0
          ? `${usd === null ? '' : '+ '}${unpriced > 0 ? counted(unpriced, 'unpriced call') : counted(freeCalls, 'self-hosted call')}`
          : usd === null
            ? 'no priced calls'
            : `${counted(calls, 'call')}, none unpriced`,
      to: { view: 'calls', sort: 'cost' },
    },
    {
      words: 'Per 1,000 calls',
      value: orDash(perThousand, dollars),
      change: changeOfCost(summary, before, costPerThousand, dollars),
      fact: `${count(summary.total_tokens)} tokens`,
      to: { view: 'calls', sort: 'cost' },
    },
    {
      words: 'Unpriced',
      meaning:
        'Calls that used tokens and have no price; the prices below say why. Self-hosted calls, and calls without usage such as failed ones, are not counted.',
      value: calls === 0 ? unknownFigure : percent(callShare),
      change: null,
      fact:
        unpriced > 0
          ? `${counted(unpriced, 'call')}${tokens}`
          : freeCalls > 0
            ? `${counted(freeCalls, 'call')} self-hosted: no cost`
            : 'all calls with tokens are priced',
      ...(untold > 0 ? { note: `${percent(untold / calls)} of calls reported no usage` } : {}),
      tone: unpriced > 0 && freeModels !== null ? 'warn' : undefined,
      to: showPrices,
    },
    {
      words: 'Most expensive model',
      meaning: 'The model with the highest spend.',
      value: dearest === undefined ? unknownFigure : (model ?? 'no model'),
      change: null,
      fact:
        dearest === undefined
          ? usd === null
            ? 'no priced calls'
            : 'no spend'
          : `${dollars(most)}, ${percent(most / (usd ?? most))} of spend in ${counted(dearest.calls, 'call')}`,
      to: { view: 'calls', sort: 'cost', ...(model === null ? {} : { models: [model] }) },
    },
  ]
}
