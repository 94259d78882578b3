import { CodedError } from '../lib/errors.ts'
import type { PriceSync } from '../api/costs.ts'
import type { Note } from '../api/notes.ts'
import type { CallDimension } from '../call/call-question.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { SessionPage } from '../call/call-session.ts'
import type { CallSort } from '../call/call-reader.ts'
import type { ZonedUnit } from '../lib/zoned-time.ts'

/** The format of an answer. CSV and NDJSON have only the calls or groups. */
export type QueryFormat = 'json' | 'csv' | 'ndjson'

/** A question of `/api/query` without `group_by`. */
export interface ListQuestion {
  readonly kind: 'list'
  readonly filter: CallFilter
  readonly limit: number
  /** The id of the last call of the page before. */
  readonly beforeId: number | null
  readonly sort: CallSort
  /** True for the smallest values first. */
  readonly rising: boolean
  readonly format: QueryFormat
}

/** A question with `group_by`: at least one of `time` and `dimension` is set. */
export interface GroupQuestion {
  readonly kind: 'groups'
  readonly filter: CallFilter
  readonly time: ZonedUnit | null
  readonly dimension: CallDimension | null
  readonly timeZone: string
  readonly format: QueryFormat
  /** `none` leaves out times and speeds; `curves` adds curves of percentiles. */
  readonly measures: 'none' | 'curves' | null
}

/** A question of `/api/overview`. */
export interface OverviewQuestion {
  readonly kind: 'overview'
  readonly filter: CallFilter
  readonly timeZone: string
  /** The notes of the range. A question includes them, so that a new note makes a new answer. */
  readonly notes: readonly Note[]
}

/** A question of `/api/slots`. */
export interface SlotsQuestion {
  readonly kind: 'slots'
  readonly range: Pick<CallFilter, 'fromMs' | 'toMs'>
  readonly upstreamName: string
  /** The limit of the first estimate; null for the last limit in force. */
  readonly maxConcurrent: number | null
  readonly cooldownMs: number
}

/** A question of `/api/sessions`. */
export interface SessionsQuestion {
  readonly kind: 'sessions'
  readonly filter: CallFilter
  readonly page: SessionPage
  readonly format: QueryFormat
}

/** Asks for calls that were written after `afterSeq`; without it, for the number with which to begin. */
export interface EndedQuestion {
  readonly kind: 'ended'
  readonly afterSeq: number | null
}

/** A question of `/api/calls/{id}/payloads`. */
export interface PayloadQuestion {
  readonly kind: 'payloads'
  readonly id: number
  /** The path of the log's active file. */
  readonly filePath: string
  /** True if payloads are logged now; null if unknown. */
  readonly logging: boolean | null
}

/** A question of `/api/raw-log/recent` while no gateway runs. */
export interface RecentPayloadsQuestion {
  readonly kind: 'recent_payloads'
  readonly filePath: string
  readonly limit: number
}

/** A question of `GET /api/costs`. */
export interface CostsQuestion {
  readonly kind: 'costs'
  /** The state of a sync that is not in the file; null if the file has it. */
  readonly sync: PriceSync | null
  /** The price file's state, which is part of the question, so that a change of the file makes a new answer. */
  readonly fileState: string
}

/** A question of `GET /api/costs/matches`. */
export interface MatchesQuestion {
  readonly kind: 'matches'
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly fileState: string
}

/** The figures that the alert rules need. */
export interface AlertsQuestion {
  readonly kind: 'alerts'
  /**
   * The last `seq` of the question before. Sessions then have only their additions since. Null asks for the
   * last 24 hours.
   */
  readonly afterSeq: number | null
}

/** The clients of a range, for `GET /api/clients`. */
export interface ClientsQuestion {
  readonly kind: 'clients'
  readonly fromMs: number
}

/** The number of all calls and of recent ones, for the growth in `GET /api/db`. */
export interface GrowthQuestion {
  readonly kind: 'growth'
  readonly fromMs: number
}

/** Everything that the query process can be asked. */
export type QueryQuestion =
  | ListQuestion
  | GroupQuestion
  | OverviewQuestion
  | SlotsQuestion
  | SessionsQuestion
  // `/api/calls/{id}`; the price file's state is as in `CostsQuestion`
  | { readonly kind: 'call'; readonly id: number; readonly fileState?: string }
  | EndedQuestion
  | PayloadQuestion
  | RecentPayloadsQuestion
  | CostsQuestion
  | MatchesQuestion
  | AlertsQuestion
  | ClientsQuestion
  | GrowthQuestion

/** Groups that an answer may hold at most. */
export const maxGroups = 5000
/** Most listed values of a dimension, because clients can name any number of models. */
export const mostEntries = 500
/** Most listed values of a dimension beside a time; the others are put together. */
export const topEntries = 20
/** Most listed sessions. */
export const topSessions = 100
/** Most rows of a list in another order than newest first. */
export const maxSorted = 100

/** The refusal of a valid question, with its reason. */
export class QueryError extends CodedError<'too_many_groups' | 'folded_range' | 'call_not_found'> {}
