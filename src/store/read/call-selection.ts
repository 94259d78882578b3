import { firstIdAt, parseCallId } from '../../call/call-id.ts'
import { type CallFilter, type FilterName, namedFilters } from '../../call/call-filter.ts'
import { tagKey } from '../../call/call-question.ts'
import { firstFailedOutcome, type NamedField, outcomeCodes } from '../../call/fields/call-fields.ts'
import { amountOf } from '../../call/fields/field-kinds.ts'
import type { FieldDimension } from '../../call/call-question.ts'
import { dimensionFields } from '../rollup/groupings.ts'
import {
  bothConditions,
  type CallCondition,
  conditionOf,
  type IdFilter,
  inCondition,
} from './call-condition.ts'
import type { CallDictionary } from './call-dictionary.ts'

const rounding = 1e-3
/** Most sets of tags in one condition. With more, each call's set is checked instead. */
const mostSets = 5000
const isTagged = `EXISTS (SELECT 1 FROM tags_in_sets
  WHERE tag_id IN (SELECT value FROM json_each(?)) AND set_id = c.tags_id)`

/** A filter in the terms of the tables. */
export interface CallSelection {
  readonly ids: IdFilter
  /** A condition that the sums cannot answer. */
  readonly rowCondition: CallCondition
  /** Ids from this one (inclusive) to `pastId` (exclusive). */
  readonly fromId: number
  readonly pastId: number
  /** The index that finds the calls without reading others. */
  readonly index?: 'calls_by_session' | 'calls_by_tags'
  /** Only calls of a session, as `rowCondition` says too. */
  readonly isInSession?: true
}

/** The calls of a filter; `null` if there can be none, because the database does not know one of its words. */
export function selectionOf(filter: CallFilter, words: CallDictionary): CallSelection | null {
  const ids: { -readonly [Name in keyof IdFilter]: IdFilter[Name] } = {}
  let rowCondition: CallCondition = { conditions: [], values: [] }
  for (const { name, by, field } of namedFilters) {
    const value = filter[name]
    if (value === undefined) continue
    if (typeof value === 'number') {
      rowCondition = bothConditions(rowCondition, boundCondition(by === 'least' ? '>=' : '<=', field, value))
      continue
    }
    if (field.kind === 'text') {
      rowCondition = bothConditions(rowCondition, inCondition(field.column, new Set(value.map(String))))
      continue
    }
    const allowed = storedValues(field, value, words)
    if (allowed.size === 0) return null
    if (isDimension(name)) ids[name] = allowed
    else rowCondition = bothConditions(rowCondition, inCondition(field.column, allowed))
  }
  let index: CallSelection['index'] = ids.session === undefined ? undefined : 'calls_by_session'
  for (const tags of Object.values(Object.groupBy(filter.tag ?? [], tagKey))) {
    const tagIds = words.idsOf('tags', tags ?? [])
    if (tagIds.size === 0) return null
    const sets = words.setsOf(tagIds, mostSets)
    if (sets === null)
      rowCondition = bothConditions(rowCondition, {
        conditions: [isTagged],
        values: [JSON.stringify([...tagIds])],
      })
    else {
      index ??= 'calls_by_tags'
      ids.tags = ids.tags?.intersection(sets) ?? sets
    }
  }
  if (filter.failedOnly === true) {
    ids.outcome = new Set([...(ids.outcome ?? Object.values(outcomeCodes))].filter(isFailedCode))
    if (ids.outcome.size === 0) return null
  }
  let fromId = filter.fromMs === undefined ? 0 : firstIdAt(Math.ceil(filter.fromMs))
  let pastId = filter.toMs === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(Math.ceil(filter.toMs))
  if (filter.exactly !== undefined) {
    const id = parseCallId(filter.exactly)
    const [label] = words.idsOf('labels', [filter.exactly])
    const traced = /^[\da-f]{32}$/.test(filter.exactly) ? words.callsOfTrace(filter.exactly) : null
    if (traced !== null) {
      rowCondition = bothConditions(rowCondition, {
        conditions: ['c.trace_id = ?'],
        values: [filter.exactly],
      })
      fromId = Math.max(fromId, traced[0])
      pastId = Math.min(pastId, traced[1] + 1)
    } else if (label !== undefined) {
      const conditions = ['(c.failure_code_id = ? OR c.upstream_error_code_id = ? OR c.id = ?)']
      rowCondition = bothConditions(rowCondition, { conditions, values: [label, label, id] })
    } else if (id === null) return null
    else {
      rowCondition = bothConditions(rowCondition, { conditions: ['c.id = ?'], values: [id] })
      fromId = Math.max(fromId, id)
      pastId = Math.min(pastId, id + 1)
    }
  }
  return { ids, rowCondition, fromId, pastId, ...(index && { index }) }
}

/** All conditions of a selection but its time. */
export function selectionCondition({ ids, rowCondition }: CallSelection): CallCondition {
  return bothConditions(conditionOf(ids), rowCondition)
}

const isFailedCode = (code: number): boolean => code >= firstFailedOutcome

function isDimension(name: FilterName): name is FieldDimension & FilterName {
  return name in dimensionFields
}

/** The column's values for these words; words that no call has are left out. */
function storedValues(
  { codes, table, kind }: NamedField,
  values: readonly (string | number)[],
  words: CallDictionary,
): ReadonlySet<number> {
  if (table !== undefined) return words.idsOf(table, values.map(String))
  if (kind === 'fingerprint') return new Set(values.map((hex) => Number.parseInt(String(hex), 16) | 0))
  return new Set(values.flatMap((value) => (codes === undefined ? Number(value) : (codes[value] ?? []))))
}

/** A bound in whole stored units, because 8.008 ms are 8007.999… µs in floating point. */
function boundCondition(comparison: '>=' | '<=', { column, kind }: NamedField, bound: number): CallCondition {
  const value = bound * (amountOf(kind)?.perShown ?? 1)
  const integer = comparison === '>=' ? Math.ceil(value - rounding) : Math.floor(value + rounding)
  return { conditions: [`c.${column} ${comparison} ?`], values: [integer] }
}
