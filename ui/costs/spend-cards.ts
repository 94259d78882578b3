import type { PageAddress } from '../data/page-address.ts'
import {
  count,
  counted,
  dollars,
  exactDollars,
  known,
  percent,
  roughPercent,
  shortCount,
} from '../format/figures.ts'
import { type Change, changeOf } from '../design/change.ts'
import {
  type SpendAnswer,
  type SpendFigures,
  type SpendGroup,
  costPerCall,
  unpricedOf,
} from './spend-figures.ts'

/** One figure of the first row. */
export interface SpendCard {
  readonly words: string
  /** What exactly is meant. */
  readonly meaning: string
  readonly value: string
  readonly change: Change | null
  readonly fact: string
  /** In the place of a change. */
  readonly note?: string
  /** Where it leads to: to calls, or to the prices below. */
  readonly to: Partial<PageAddress> | 'prices'
  readonly isTelling?: boolean
}

/** What was spent, what a call costs, what is not known of it, and where most of it went. */
export function spendCards(
  models: SpendAnswer<SpendGroup>,
  before: SpendFigures | null,
): readonly SpendCard[] {
  return [spend(models.summary, before), perCall(models.summary, before), unpriced(models), dearest(models)]
}

function spend(now: SpendFigures, before: SpendFigures | null): SpendCard {
  const { cost_usd: usd, unpriced_calls: unpriced, calls } = now
  return {
    words: 'Spend',
    meaning:
      'What the priced calls of this time cost. Calls without a price are counted beside it, never as nothing.',
    value: known(usd, dollars),
    change: compared(usd, before?.cost_usd ?? null, now, before, dollars),
    fact:
      unpriced > 0
        ? `${usd === null ? '' : '+ '}${counted(unpriced, 'unpriced call')}`
        : usd === null
          ? 'no call has a cost'
          : `${counted(calls, 'call')}, none unpriced`,
    to: { view: 'calls', sort: 'cost' },
  }
}

function perCall(now: SpendFigures, before: SpendFigures | null): SpendCard {
  const usd = costPerCall(now)
  return {
    words: 'Per call',
    meaning: 'Spend divided by the calls, without those that have no price.',
    value: known(usd, exactDollars),
    change: compared(usd, before === null ? null : costPerCall(before), now, before, exactDollars),
    fact: `${shortCount(now.total_tokens)} tokens`,
    to: { view: 'calls', sort: 'cost' },
  }
}

function unpriced(models: SpendAnswer<SpendGroup>): SpendCard {
  const { calls, callShare, tokenShare, isLeast } = unpricedOf(models.summary, models.groups)
  const { calls: all, no_usage_calls: untold } = models.summary
  const tokens = tokenShare === null ? '' : `, ${isLeast ? 'at least ' : ''}${percent(tokenShare)} of tokens`
  return {
    words: 'Unpriced',
    meaning:
      'Calls that used tokens and have no price: the prices below say why. Of calls without usage nothing is known; failed ones are among them.',
    value: models.summary.calls === 0 ? '–' : percent(callShare),
    change: null,
    fact: calls === 0 ? 'every call with tokens has a price' : `${counted(calls, 'call')}${tokens}`,
    ...(untold > 0 ? { note: `${percent(untold / all)} of calls reported no usage` } : {}),
    to: 'prices',
    isTelling: calls > 0,
  }
}

function dearest({ summary, groups }: SpendAnswer<SpendGroup>): SpendCard {
  const [first] = groups
    .filter(({ cost_usd: usd }) => usd !== null && usd > 0)
    .sort((one, other) => (other.cost_usd ?? 0) - (one.cost_usd ?? 0))
  const usd = first?.cost_usd ?? 0
  const model = first?.key ?? null
  return {
    words: 'Dearest model',
    meaning: 'The model that most was spent on.',
    value: first === undefined ? '–' : (model ?? 'no model named'),
    change: null,
    fact:
      first === undefined
        ? summary.cost_usd === null
          ? 'no call has a cost'
          : 'nothing was spent'
        : `${dollars(usd)}, ${roughPercent(usd / (summary.cost_usd ?? usd))} of spend in ${count(first.calls)} ${first.calls === 1 ? 'call' : 'calls'}`,
    to: model === null ? { view: 'calls', sort: 'cost' } : { view: 'calls', sort: 'cost', models: [model] },
  }
}

function compared(
  now: number | null,
  before: number | null,
  of: SpendFigures,
  past: SpendFigures | null,
  show: (usd: number) => string,
): Change | null {
  return changeOf({ now, before, nNow: of.calls, nBefore: past?.calls ?? 0, better: null, show })
}
