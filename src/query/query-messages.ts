import {
  isCount,
  isNumber,
  isObject,
  isOneOf,
  isText,
  nullable,
  record,
  type Shape,
} from '../lib/message-shape.ts'
import type { QueryFormat, QueryQuestion } from './query-question.ts'
import type { QueryError } from './query-question.ts'

/** To the query process: one question at a time. */
export interface ToQuery {
  readonly number: number
  readonly question: QueryQuestion
  /** Milliseconds since the Unix epoch that count as now. */
  readonly nowMs: number
  /** Milliseconds that the answer may take. */
  readonly budgetMs: number
}

/** An answer, ready to be sent to whoever asked. */
export interface QueryAnswer {
  readonly kind: 'answer'
  readonly format: QueryFormat
  readonly body: Uint8Array
  /** Differs whenever the body does; without quotes. */
  readonly tag: string
  readonly nextCursor: string | null
}

/** Why there is no answer. */
export interface QueryFailure {
  readonly kind: 'refused'
  readonly code: QueryError['code'] | 'too_slow'
  readonly message: string
  readonly param: string | null
}

/** A fault of ours, with its words for the terminal. */
export interface QueryFault {
  readonly kind: 'fault'
  readonly message: string
}

/** What becomes of a question. */
export type QueryReply = QueryAnswer | QueryFailure | QueryFault

/** There is no answer, and nothing is wrong with the question. */
export type QueryUnavailable = 'too_busy' | 'closed' | 'interrupted'

/** What becomes of a question for whoever asked it. */
export type QueryOutcome =
  | QueryAnswer
  | QueryFailure
  | { readonly kind: 'unavailable'; readonly code: QueryUnavailable }

/** From the query process, once, before any reply. */
export interface QueryReady {
  readonly isReady: true
}

/** From the query process: each question is replied to under its number. */
export interface FromQuery {
  readonly number: number
  readonly reply: QueryReply
}

/** A question that is none is a fault of its own answer. */
export const isToQuery: Shape<ToQuery> = record<ToQuery>({
  number: isCount,
  question: (value): value is QueryQuestion => isObject(value) && isText(value['kind']),
  nowMs: isNumber,
  budgetMs: isNumber,
})

export const isQueryReady: Shape<QueryReady> = record<QueryReady>({ isReady: isOneOf([true]) })

const isAnswer = record<QueryAnswer>({
  kind: isOneOf(['answer']),
  format: isOneOf(['json', 'csv', 'ndjson']),
  body: (value): value is Uint8Array => value instanceof Uint8Array,
  tag: isText,
  nextCursor: nullable(isText),
})
const isFailure = record<QueryFailure>({
  kind: isOneOf(['refused']),
  code: isOneOf(['too_many_groups', 'folded_range', 'call_not_found', 'too_slow']),
  message: isText,
  param: nullable(isText),
})
const isFault = record<QueryFault>({ kind: isOneOf(['fault']), message: isText })

export const isFromQuery: Shape<FromQuery> = record<FromQuery>({
  number: isCount,
  reply: (value): value is QueryReply => isAnswer(value) || isFailure(value) || isFault(value),
})
