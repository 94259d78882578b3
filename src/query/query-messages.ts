import type { ErrorData } from '../lib/errors.ts'
import type { QueryError, QueryFormat, QueryQuestion } from './query-question.ts'

/** A message to the query process, one question at a time. */
export interface ToQuery {
  readonly question: QueryQuestion
  /** The present time for the answer, in ms since the Unix epoch. */
  readonly nowMs: number
  /** Time limit for the answer in milliseconds. */
  readonly budgetMs: number
}

/** An answer, ready to be sent. */
export interface QueryAnswer {
  readonly kind: 'answer'
  readonly format: QueryFormat
  readonly body: Uint8Array
  /** The entity tag without quotes, which changes with the body. */
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

/** The refusal of a question whose answer takes too long. */
export const tooSlow: QueryFailure = {
  kind: 'refused',
  code: 'too_slow',
  message: 'The query takes too long; use a shorter range or fewer filters.',
  param: null,
  data: null,
}

/** An internal error, with its message for the terminal. */
export interface QueryFault {
  readonly kind: 'fault'
  readonly message: string
}

/** The outcome of a question. */
export type QueryReply = QueryAnswer | QueryFailure | QueryFault

/** Why a valid question has no answer. */
export type QueryUnavailable = 'too_busy' | 'closed' | 'interrupted'

/** The outcome of a question for its asker. */
export type QueryOutcome =
  | QueryAnswer
  | QueryFailure
  | { readonly kind: 'unavailable'; readonly code: QueryUnavailable }

/** A message from the query process: first `ready`, then a reply to each question. */
export type FromQuery = { readonly kind: 'ready' } | QueryReply
