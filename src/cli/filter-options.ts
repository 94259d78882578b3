import { type CallFilter, namedFilters } from '../call/call-filter.ts'
import type { QueryParameter } from '../dashboard/http/query-parameters.ts'
import { filterOf, type OverviewQuery, overviewTable } from '../dashboard/routes/query-request.ts'
import { ownTimeZone } from '../lib/zoned-time.ts'
import type { OptionRow } from '../options/option-spec.ts'
import { age, timeZone, type ValueKind } from '../options/value-kind.ts'
import { optional } from './option-rows.ts'

/** The filters of calls as options of a command. */
export interface FilterValues extends Omit<OverviewQuery, 'tz'> {
  /** The name of an IANA time zone; `null` for the machine's own zone. */
  readonly tz: string | null
  /** Length of the range in milliseconds; it ends now. */
  readonly since: number | null
}

/** The filters of `/api/query` as options of a command: `--min-ms` for `min_ms`, and `--errors` for `errors_only`. */
export const filterRows: { readonly [Name in keyof FilterValues]: OptionRow<FilterValues[Name]> } = {
  ...(Object.fromEntries(
    Object.entries<QueryParameter<unknown>>(overviewTable).map(([name, parameter]) => [
      name,
      filterRow(name, parameter),
    ]),
  ) as unknown as { readonly [Name in keyof OverviewQuery]: OptionRow<OverviewQuery[Name]> }),
  tz: optional(timeZone, 'time zone of all times (default: that of this machine)'),
  since: optional(age, 'only calls that started in the last: 90s, 15m, 1h, 7d'),
}

function filterRow(name: string, parameter: QueryParameter<unknown>): OptionRow<unknown> {
  const { default: fallback, doc = '', schema, isRepeatable = false } = parameter
  const isSwitch = fallback === false
  const isNumber = schema !== undefined && ['integer', 'number'].includes(String(schema['type']))
  const words = name.replaceAll('_', ' ')
  const which = namedFilters.some((filter) => filter.name === name && filter.by === 'any')
    ? `calls with this ${words}`
    : doc.replace(/^only /, '').replace(/^(?!calls|time zone)/, 'calls with ')
  const only = which.startsWith('calls') ? 'only ' : ''
  const placeholder = isSwitch ? null : isNumber ? '<n>' : '<text>'
  const kind = { ...parameter, placeholder } as ValueKind<{}>
  const description = `${only}${which}${isRepeatable ? '; repeatable' : ''}`
  return {
    name: isSwitch ? 'errors' : name.replaceAll('_', '-'),
    env: [],
    kind,
    default: fallback,
    description,
  }
}

/**
 * The filter of the options. From now on this process reads and prints all times in the zone of `--tz`.
 * Throws `RequestError` if options contradict each other.
 */
export function filterIn(options: FilterValues, nowMs: number): CallFilter {
  if (options.tz !== null) process.env['TZ'] = options.tz
  const filter = filterOf({ ...options, tz: ownTimeZone() })
  if (options.since === null) return filter
  return { ...filter, fromMs: Math.max(filter.fromMs ?? 0, nowMs - options.since) }
}
