import type { SQLInputValue } from 'node:sqlite'
import { firstIdAt, parseCallId } from '../../call/call-id.ts'
import type { CallFilter } from '../../call/call-filter.ts'
import { callTypeCodes, firstFailedOutcome, outcomeCodes } from '../../call/call-fields.ts'
import { bothConditions, type CallCondition, conditionOf, type IdFilter } from './call-condition.ts'
import type { CallWords } from './call-words.ts'

const roundingUs = 1e-3

/** A filter in the terms of the tables. */
export interface CallSelection {
  readonly ids: IdFilter
  /** What the rollups do not tell apart. */
  readonly extra: CallCondition
  /** Ids from this one (inclusive) to `pastId` (exclusive). */
  readonly fromId: number
  readonly pastId: number
}

/** The calls that a filter means; `null` where there cannot be any, because a word of it is not known. */
export function selectionOf(filter: CallFilter, words: CallWords): CallSelection | null {
  const ids = idFilterOf(filter, words)
  const found = extraOf(filter, words)
  if (found === null || Object.values(ids).some((allowed) => allowed.size === 0)) return null
  const from = filter.fromMs === undefined ? 0 : firstIdAt(Math.ceil(filter.fromMs))
  const past = filter.toMs === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(Math.ceil(filter.toMs))
  const { extra, onlyId } = found
  return {
    ids,
    extra,
    fromId: Math.max(from, onlyId ?? from),
    pastId: Math.min(past, onlyId === null ? past : onlyId + 1),
  }
}

/** All of a selection but its time. */
export function selectionCondition({ ids, extra }: CallSelection): CallCondition {
  return bothConditions(conditionOf(ids), extra)
}

function idFilterOf(filter: CallFilter, words: CallWords): IdFilter {
  const { models, callTypes, failureCodes, statuses, clients, endpoints } = filter
  const outcomes = outcomeIds(filter)
  return {
    ...(models && { model: words.idsOf('models', models) }),
    ...(callTypes && { call_type: new Set(callTypes.map((type) => callTypeCodes[type])) }),
    ...(outcomes && { outcome: outcomes }),
    ...(failureCodes && { failure_code: words.idsOf('labels', failureCodes) }),
    ...(statuses && { status: new Set(statuses) }),
    ...(clients && { client: words.idsOf('clients', clients) }),
    ...(endpoints && { endpoint: words.idsOf('endpoints', endpoints) }),
  }
}

function outcomeIds({ outcomes, failedOnly = false }: CallFilter): ReadonlySet<number> | null {
  if (outcomes === undefined && !failedOnly) return null
  const codes = outcomes?.map((outcome) => outcomeCodes[outcome]) ?? Object.values(outcomeCodes)
  return new Set(failedOnly ? codes.filter((code) => code >= firstFailedOutcome) : codes)
}

function extraOf(
  { minMs, maxMs, exactly }: CallFilter,
  words: CallWords,
): { readonly extra: CallCondition; readonly onlyId: number | null } | null {
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  let onlyId: number | null = null
  // In whole microseconds, as they are stored: 8.008 ms are 8007.999… in floating point.
  if (minMs !== undefined) {
    conditions.push('c.duration_us >= ?')
    values.push(Math.ceil(minMs * 1000 - roundingUs))
  }
  if (maxMs !== undefined) {
    conditions.push('c.duration_us <= ?')
    values.push(Math.floor(maxMs * 1000 + roundingUs))
  }
  if (exactly !== undefined) {
    const id = parseCallId(exactly)
    const [label] = words.idsOf('labels', [exactly])
    if (label !== undefined) {
      conditions.push('(c.failure_code_id = ? OR c.upstream_error_code_id = ? OR c.id = ?)')
      values.push(label, label, id)
    } else if (id === null) return null
    else onlyId = id
  }
  return { extra: { conditions, values }, onlyId }
}
