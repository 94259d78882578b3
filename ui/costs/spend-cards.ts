import type { FigureCard } from '../design/figure-cards.tsx'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import { counted, dollars, orDash, percent, count, unknownFigure } from '../format/figures.ts'
import {
  type SpendAnswer,
  type SpendFigures,
  type SpendGroup,
  changeOfCost,
  unpricedOf,
} from './spend-figures.ts'

/**
 * Returns the cards of spend: the total, the mean of a call, the unpriced part, and the most expensive model.
 * `freeCalls` is the number of unpriced calls on the user's own machines.
 */
export function spendCards(
  { summary, groups }: SpendAnswer<SpendGroup>,
  before: SpendFigures | null,
  showPrices: () => void,
  freeCalls: number,
): readonly FigureCard[] {
  const { cost_usd: usd, no_usage_calls: untold, calls } = summary
  const perThousand = costPerThousand(summary)
  const { calls: unpriced, callShare, tokenShare, isLeast } = unpricedOf(summary, groups)
  const tokens = tokenShare === null ? '' : `, ${isLeast ? 'at least ' : ''}${percent(tokenShare)} of tokens`
  const isFree = unpriced > 0 && freeCalls >= unpriced
  const [dearest] = groups
    .filter(({ cost_usd: usd }) => usd !== null && usd > 0)
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
        unpriced > 0
          ? `${usd === null ? '' : '+ '}${counted(unpriced, isFree ? 'self-hosted call' : 'unpriced call')}`
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
        'Calls that used tokens and have no price; the prices below say why. Calls without usage, such as failed ones, are not counted.',
      value: calls === 0 ? unknownFigure : percent(isFree ? 0 : callShare),
      change: null,
      fact: isFree
        ? `${counted(unpriced, 'call')} self-hosted: no cost`
        : unpriced === 0
          ? 'all calls with tokens are priced'
          : `${counted(unpriced, 'call')}${tokens}`,
      ...(untold > 0 ? { note: `${percent(untold / calls)} of calls reported no usage` } : {}),
      tone: unpriced > 0 && !isFree ? 'warn' : undefined,
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
