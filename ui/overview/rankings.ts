import type { Overview, OverviewModel } from '../../src/api/overview.ts'
import type { RankedRow } from '../charts/ranked-list.tsx'
import { type CompareBy, filterOf, namelessWords } from '../data/page-address.ts'
import { count, counted, dollars, percent, roughPercent, shortCount } from '../format/figures.ts'

export type ModelMeasure = 'cost' | 'tokens' | 'cached' | 'calls'

const shownRows = 8

/** By what models are compared unless the reader says otherwise: cost where any of them has one, else tokens if any. */
export function usualMeasure(models: readonly OverviewModel[]): ModelMeasure {
  if (models.some(({ cost_usd }) => cost_usd !== null)) return 'cost'
  return models.some(({ total_tokens }) => total_tokens > 0) ? 'tokens' : 'calls'
}

interface Measure {
  readonly of: (model: OverviewModel) => number | null
  readonly show: (value: number) => string
}

const measures: Readonly<Record<ModelMeasure, Measure>> = {
  cost: { of: ({ cost_usd }) => cost_usd, show: dollars },
  tokens: { of: ({ total_tokens }) => total_tokens, show: shortCount },
  cached: { of: ({ cached_share }) => cached_share, show: percent },
  calls: { of: ({ calls }) => calls, show: shortCount },
}

/** The models with the largest part; one without a price is named, and is none that costs nothing. */
export function modelRows(models: readonly OverviewModel[], measure: ModelMeasure): readonly RankedRow[] {
  const { of, show } = measures[measure]
  return models
    .filter(
      (model) => measure === 'cost' || (of(model) !== null && (of(model) !== 0 || measure === 'cached')),
    )
    .toSorted((one, other) => (of(other) ?? -1) - (of(one) ?? -1))
    .slice(0, shownRows)
    .map((model) => {
      const value = of(model)
      const isUnpriced = measure === 'cost' && model.unpriced_calls > 0
      const note =
        value === null
          ? counted(model.calls, 'call')
          : isUnpriced
            ? `+ ${shortCount(model.unpriced_calls)} unpriced`
            : undefined
      return {
        key: model.model ?? '',
        words: model.model ?? 'No model named',
        value,
        figure: value === null ? 'no price' : show(value),
        note,
        to: model.model === null ? null : { view: 'calls', models: [model.model], sort: 'started_at' },
      }
    })
}

/** Failed calls that have a status, a model, a client or an upstream in common. */
export interface FailedGroup {
  readonly key: string | number | null
  readonly calls: number
}

/** Of whom calls failed, the most frequent first; a status of 200 broke off, or had an error in its answer. */
export function failedRows(
  groups: readonly FailedGroup[],
  errors: number,
  by: CompareBy | 'status',
): readonly RankedRow[] {
  return groups
    .toSorted((one, other) => other.calls - one.calls)
    .slice(0, shownRows)
    .map(({ key, calls }) => {
      const name = key === null ? null : String(key)
      const filter = name === null ? null : by === 'status' ? { statuses: [name] } : filterOf(by, name)
      return {
        key: name ?? '',
        words: name ?? (by === 'status' ? 'No answer' : namelessWords[by]),
        value: calls,
        figure: count(calls),
        note: errors > 0 ? roughPercent(calls / errors) : undefined,
        to: filter === null ? null : { view: 'calls', errorsOnly: true, sort: 'started_at', ...filter },
      }
    })
}

/** How calls failed, the most frequent first. */
export function failureRows(
  failures: NonNullable<Overview['failures']>,
  errors: number,
  words: (code: string) => string,
): readonly RankedRow[] {
  return failures.slice(0, shownRows).map(({ failure_code: code, calls }) => ({
    key: code ?? '',
    words: code === null ? 'Interrupted' : words(code),
    value: calls,
    figure: count(calls),
    note: errors > 0 ? roughPercent(calls / errors) : undefined,
    to:
      code === null
        ? { view: 'calls', outcomes: ['interrupted'], sort: 'started_at' }
        : { view: 'calls', failureCodes: [code], sort: 'started_at' },
  }))
}
