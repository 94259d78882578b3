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

/** A page of sessions, largest first (default order: `last_at`). */
export interface SessionPage {
  readonly limit: number
  readonly sort?: SessionSort
  /** True for the smallest first. Unknown values come last in both orders. */
  readonly rising?: boolean
  /** Only sessions whose last matching call has a smaller id: `nextBeforeId` of the page before. */
  readonly beforeId?: number
  /** A session's name or a part of it; or an id or code, as in `exactly` of a filter. */
  readonly search?: string
}

/** A page of sessions, and the cursor of the next page. */
export interface FoundSessions {
  readonly sessions: readonly CallSession[]
  /** Cursor of the next page; null without one, or in any order but `last_at`. */
  readonly nextBeforeId: number | null
}
