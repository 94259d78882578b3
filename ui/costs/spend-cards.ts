import type { FigureCard } from '../design/figure-cards.tsx'
import {
  counted,
  dollars,
  exactDollars,
  known,
  percent,
  roughPercent,
  shortCount,
  unknownFigure,
} from '../format/figures.ts'
import {
  type SpendAnswer,
  type SpendFigures,
  type SpendGroup,
  changeOfCost,
  costPerCall,
  unpricedOf,
} from './spend-figures.ts'

/** Figures of spend: all of it, that of a call, the part that is not known, and the dearest model. */
export function spendCards(
  models: SpendAnswer<SpendGroup>,
  before: SpendFigures | null,
  showPrices: () => void,
): readonly FigureCard[] {
  const { summary } = models
  return [
    spend(summary, before),
    perCall(summary, before),
    { ...unpriced(models), to: showPrices },
    dearest(models),
  ]
}

function spend(now: SpendFigures, before: SpendFigures | null): FigureCard {
  const { cost_usd: usd, unpriced_calls: unpriced, calls } = now
  return {
    words: 'Spend',
    meaning:
      'What the priced calls of this time cost. Calls without a price are counted beside it, never as nothing.',
    value: known(usd, dollars),
    change: changeOfCost(now, before, ({ cost_usd: usd }) => usd, dollars),
    fact:
      unpriced > 0
        ? `${usd === null ? '' : '+ '}${counted(unpriced, 'unpriced call')}`
        : usd === null
          ? 'no call has a cost'
          : `${counted(calls, 'call')}, none unpriced`,
    to: { view: 'calls', sort: 'cost' },
  }
}

function perCall(now: SpendFigures, before: SpendFigures | null): FigureCard {
  const usd = costPerCall(now)
  return {
    words: 'Per call',
    meaning: 'Spend divided by the calls, without those that have no price.',
    value: known(usd, exactDollars),
    change: changeOfCost(now, before, costPerCall, exactDollars),
    fact: `${shortCount(now.total_tokens)} tokens`,
    to: { view: 'calls', sort: 'cost' },
  }
}

function unpriced(models: SpendAnswer<SpendGroup>): Omit<FigureCard, 'to'> {
  const { calls, callShare, tokenShare, isLeast } = unpricedOf(models.summary, models.groups)
  const { calls: all, no_usage_calls: untold } = models.summary
  const tokens = tokenShare === null ? '' : `, ${isLeast ? 'at least ' : ''}${percent(tokenShare)} of tokens`
  return {
    words: 'Unpriced',
    meaning:
      'Calls that used tokens and have no price: the prices below say why. Of calls without usage nothing is known; failed ones are among them.',
    value: models.summary.calls === 0 ? unknownFigure : percent(callShare),
    change: null,
    fact: calls === 0 ? 'every call with tokens has a price' : `${counted(calls, 'call')}${tokens}`,
    ...(untold > 0 ? { note: `${percent(untold / all)} of calls reported no usage` } : {}),
    isTelling: calls > 0,
  }
}

function dearest({ summary, groups }: SpendAnswer<SpendGroup>): FigureCard {
  const [first] = groups
    .filter(({ cost_usd: usd }) => usd !== null && usd > 0)
    .sort((one, other) => (other.cost_usd ?? 0) - (one.cost_usd ?? 0))
  const usd = first?.cost_usd ?? 0
  const model = first?.key ?? null
  return {
    words: 'Dearest model',
    meaning: 'The model that most was spent on.',
    value: first === undefined ? unknownFigure : (model ?? 'no model named'),
    change: null,
    fact:
      first === undefined
        ? summary.cost_usd === null
          ? 'no call has a cost'
          : 'nothing was spent'
        : `${dollars(usd)}, ${roughPercent(usd / (summary.cost_usd ?? usd))} of spend in ${counted(first.calls, 'call')}`,
    to: model === null ? { view: 'calls', sort: 'cost' } : { view: 'calls', sort: 'cost', models: [model] },
  }
}
