import * as v from 'valibot'
import { callTypeCodes, namedFields, type PublicFields, valueType } from '../call/fields/call-fields.ts'
import type { CallType } from '../call/call.ts'
import { Curves, GroupFigures, CallTotals } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'

/** Present if the database cannot be read. The rest of the answer is then as if there were no call. */
export const NoStore = v.object({
  /** Why there are no figures: `missing`, `empty`, `damaged`, … */
  store: v.exactOptional(v.string()),
  note: v.exactOptional(v.string()),
})

const types = { number: v.number(), boolean: v.boolean(), string: v.string() }

const fields = namedFields.map((field) => {
  const { name, codes, required = false, doc } = field
  const value = codes === undefined ? types[valueType(field)] : v.picklist(Object.keys(codes))
  return [name, v.pipe(required ? value : v.nullable(value), v.description(doc))] as const
})

type FieldSchemas = { readonly [Name in keyof PublicFields]: v.GenericSchema<PublicFields[Name]> }

/** A call as in `/api/query`, `calls --json` and the export. `callFields` describes each field. */
export const CallJson = v.object({
  /** Eleven characters: see `call-id.ts`. */
  id: v.string(),
  /** ISO 8601, UTC. */
  started_at: v.string(),
  ...(Object.fromEntries(fields) as unknown as FieldSchemas),
})

/** Fields of every answer of `/api/query`, besides its calls or groups. */
export const QueryFrame = v.object({
  /** Figures of all calls of the filter, not only of the listed ones. */
  summary: GroupFigures,
  available_models: v.array(v.string()),
  available_types: v.array(v.picklist(Object.keys(callTypeCodes) as CallType[])),
  /** Present if the range includes calls that were folded into hours. */
  resolution: v.exactOptional(v.literal('1h')),
})

export type QueryFrame = Infer<typeof QueryFrame>

/** The body of `GET /api/query` without `group_by`. */
export const CallList = v.object({
  ...QueryFrame.entries,
  ...NoStore.entries,
  calls: v.array(CallJson),
  /** Number of calls in `calls`. */
  count: v.number(),
  limit: v.number(),
  /** The cursor of the next page; null if there is no next page. */
  next_cursor: v.nullable(v.string()),
})

export type CallList = Infer<typeof CallList>

/** The group's common value: a model's name, a status, the start of an hour; null for calls without one. */
export const GroupKey = v.nullable(v.union([v.string(), v.number()]))

/** All sums, and the times and speeds that `measures` asks for. */
export const AnsweredSums = v.object({
  ...v.partial(GroupFigures).entries,
  ...CallTotals.entries,
  curves: v.exactOptional(Curves),
})

export type AnsweredSums = Infer<typeof AnsweredSums>

const rest = v.exactOptional(v.literal(true))

/** Figures of a group: under `key`, or, with a time and a dimension, under both of their names. */
export const QueryGroup = v.union([
  v.object({ ...AnsweredSums.entries, key: GroupKey, rest }),
  v.object({ ...AnsweredSums.entries, keys: v.record(v.string(), GroupKey), rest }),
])

export type QueryGroup = Infer<typeof QueryGroup>

/** The body of `GET /api/query` with `group_by`. */
export const CallGroups = v.object({
  ...QueryFrame.entries,
  ...NoStore.entries,
  summary: AnsweredSums,
  /** The grouping of the request, time first: `hour`, `hour,model`. */
  group_by: v.string(),
  groups: v.array(QueryGroup),
  /** Start of the first call ever recorded; null without a call. */
  recorded_from: v.nullable(v.string()),
})

export type CallGroups = Infer<typeof CallGroups>

/** Calls, or figures by a key. */
export const CallsAnswer = v.union([CallList, CallGroups])
