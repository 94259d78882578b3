import type { ErrorData } from '../lib/errors.ts'
import { isNumber, isObject, isText } from '../lib/message-shape.ts'
import type { QueryError, QueryFormat, QueryQuestion } from './query-question.ts'

/** To the query process: one question at a time. */
export interface ToQuery {
  readonly question: QueryQuestion
  /** Milliseconds since the Unix epoch that count as now. */
  readonly nowMs: number
  /** Milliseconds that the answer may take. */
  readonly budgetMs: number
}

/** An answer, ready to be sent. */
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
  readonly data: ErrorData | null
}

/** A fault of ours, with its words for the terminal. */
export interface QueryFault {
  readonly kind: 'fault'
  readonly message: string
}

/** The outcome of a question. */
export type QueryReply = QueryAnswer | QueryFailure | QueryFault

/** There is no answer, and nothing is wrong with the question. */
export type QueryUnavailable = 'too_busy' | 'closed' | 'interrupted'

/** The outcome of a question for its asker. */
export type QueryOutcome =
  | QueryAnswer
  | QueryFailure
  | { readonly kind: 'unavailable'; readonly code: QueryUnavailable }

/** From the query process: once that it is there, then a reply to each question. */
export type FromQuery = { readonly kind: 'ready' } | QueryReply

/** A question that is none is a fault of its own answer. */
export function isToQuery(value: unknown): value is ToQuery {
  if (!isObject(value) || !isObject(value['question'])) return false
  return isText(value['question']['kind']) && isNumber(value['nowMs']) && isNumber(value['budgetMs'])
}
