import type { OverviewModel, OverviewTotals } from '../../src/api/overview.ts'
import type { RankedRow } from '../charts/ranked-list.tsx'
import { type PageAddress, namelessOf } from '../data/page-address.ts'
import { unpricedWords } from '../data/free-calls.ts'
import { changeTo, valueWords } from '../filters/facets.ts'
import { count, counted, dollars, percent, unknownFigure } from '../format/figures.ts'

export type ModelMeasure = 'cost' | 'tokens' | 'cached' | 'calls'

const shownRows = 8

/** Returns the default measure of models: cost if any model has one, else tokens if any, else calls. */
export function usualMeasure(models: readonly OverviewModel[]): ModelMeasure {
  if (models.some(({ cost_usd }) => cost_usd !== null)) return 'cost'
  return models.some(({ total_tokens }) => total_tokens > 0) ? 'tokens' : 'calls'
}

type Totals = Pick<OverviewTotals, 'calls' | 'cost_usd' | 'input_tokens' | 'output_tokens'>

interface Measure {
  readonly of: (model: OverviewModel) => number | null
  /** Returns the sum over all models; 0 for a share, which has no sum. */
  readonly ofAll: (totals: Totals) => number
  readonly show: (value: number) => string
}

const measures: Readonly<Record<ModelMeasure, Measure>> = {
  cost: { of: ({ cost_usd }) => cost_usd, ofAll: ({ cost_usd }) => cost_usd ?? 0, show: dollars },
  tokens: {
    of: ({ total_tokens }) => total_tokens,
    ofAll: ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
    show: count,
  },
  cached: { of: ({ cached_share }) => cached_share, ofAll: () => 0, show: percent },
  calls: { of: ({ calls }) => calls, ofAll: ({ calls }) => calls, show: count },
}

/**
 * Returns the rows of the models with the largest values, and one row for all others. Models without a price have a
 * row, too. Nobody bills the models in `free`; null while these are unknown.
 */
export function modelRows(
  models: readonly OverviewModel[],
  measure: ModelMeasure,
  totals: Totals,
  free: ReadonlySet<string | null> | null = new Set(),
): readonly RankedRow[] {
  const { of, show, ofAll } = measures[measure]
  const rows = models
    .filter(
      (model) => measure === 'cost' || (of(model) !== null && (of(model) !== 0 || measure === 'cached')),
    )
    .toSorted((a, b) => (of(b) ?? -1) - (of(a) ?? -1))
    .slice(0, shownRows)
  const others = totals.calls - rows.reduce((sum, { calls }) => sum + calls, 0)
  const othersValue = ofAll(totals) - rows.reduce((sum, model) => sum + (of(model) ?? 0), 0)
  return [
    ...rows.map((model): RankedRow => {
      const value = of(model)
      const isFree = free?.has(model.model) === true
      const isUnpriced = measure === 'cost' && model.unpriced_calls > 0
      const note =
        value === null
          ? counted(model.calls, 'call')
          : isUnpriced
            ? unpricedWords(model.unpriced_calls, free && (isFree ? model.unpriced_calls : 0), '+ ')
            : undefined
      return {
        key: model.model ?? '',
        words: model.model ?? 'No model',
        value,
        figure:
          value !== null ? show(value) : isFree ? 'self-hosted' : isUnpriced ? 'no price' : unknownFigure,
        note,
        to: model.model === null ? null : { view: 'calls', models: [model.model], sort: 'started_at' },
      }
    }),
    ...(rows.length < shownRows || others <= 0
      ? []
      : [
          othersRow({
            value: Math.max(0, othersValue),
            figure: othersValue > 0 ? show(othersValue) : '',
            note: measure === 'calls' ? undefined : counted(others, 'call'),
            to: { view: 'compare', order: measure === 'cost' ? 'cost' : 'calls' },
          }),
        ]),
  ]
}

/** Returns the row of the others, below the shown rows. */
function othersRow(row: Omit<RankedRow, 'key' | 'words'>): RankedRow {
  return { key: '\0', words: 'Others', ...row }
}

/** Returns the shown rows, and one row for the failed calls of all others. */
function withOthers(rows: readonly RankedRow[], errors: number): readonly RankedRow[] {
  const shown = rows.slice(0, shownRows)
  const others = errors - shown.reduce((sum, { value }) => sum + (value ?? 0), 0)
  if (shown.length < shownRows || others <= 0) return shown
  const to = { view: 'calls', errorsOnly: true, sort: 'started_at' } as const
  return [...shown, othersRow({ value: others, figure: count(others), note: percent(others / errors), to })]
}

/** Failed calls with the same cause, status, model or upstream. */
export interface FailedGroup {
  readonly key: string | number | null
  readonly calls: number
}

/** The names of groups of failed calls without a value. */
const namelessWords = {
  failure_code: 'Interrupted',
  status: 'No answer',
  model: namelessOf('model'),
  upstream_name: namelessOf('upstream_name'),
}

/**
 * Returns the rows of failed calls, most frequent first. With status 200, the response broke off or contained an
 * error.
 */
export function failedRows(
  groups: readonly FailedGroup[],
  errors: number,
  by: keyof typeof namelessWords,
): readonly RankedRow[] {
  const rows = groups
    .toSorted((a, b) => b.calls - a.calls)
    .map(({ key, calls }): RankedRow => {
      const name = key === null ? null : String(key)
      const filter: Partial<PageAddress> | null =
        name !== null ? changeTo(by, [name]) : by === 'failure_code' ? { outcomes: ['interrupted'] } : null
      return {
        key: name ?? '',
        words: name === null ? namelessWords[by] : valueWords(by, name),
        value: calls,
        figure: count(calls),
        note: errors > 0 ? percent(calls / errors) : undefined,
        to: filter && {
          view: 'calls',
          sort: 'started_at',
          ...(by !== 'failure_code' && { errorsOnly: true }),
          ...filter,
        },
      }
    })
  return withOthers(rows, errors)
}
