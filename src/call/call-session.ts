import type { CallSession } from './figures.ts'

/** The fields of a session, in order. */
export const sessionFields = [
  'session',
  'session_source',
  'client',
  'models',
  'first_at',
  'last_at',
  'calls',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'tool_calls',
  'cost_usd',
  'cached_share',
  'cache_saved_usd',
  'unpriced_calls',
  'wall_ms',
  'in_calls_ms',
  'between_ms',
] as const satisfies readonly (keyof CallSession)[]

/** The orders of sessions: by the last call of the filter, or by a total of the whole session. */
export const sessionSorts = ['last_at', 'calls', 'tokens', 'cost', 'duration'] as const

export type SessionSort = (typeof sessionSorts)[number]

/** A page of sessions: the largest first; by `last_at` unless sorted otherwise. */
export interface SessionPage {
  readonly limit: number
  readonly sort?: SessionSort
  /** True for the smallest first. Unknown values come last in both orders. */
  readonly rising?: boolean
  /** Only sessions whose last such call has a smaller id: `nextBeforeId` of the page before. */
  readonly beforeId?: number
  /** A session's name or a part of it, or what `exactly` of a filter can be. */
  readonly search?: string
}

export interface FoundSessions {
  readonly sessions: readonly CallSession[]
  /** Null if there are no more, and in any order but the usual one. */
  readonly nextBeforeId: number | null
}
