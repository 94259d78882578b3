import type { CallSession } from './figures.ts'

/** All that is told of a session, in its order. */
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

/** A page of sessions: those first in which a call that was asked for began last. */
export interface SessionPage {
  readonly limit: number
  /** Only sessions whose last such call has a smaller id: `nextBeforeId` of the page before. */
  readonly beforeId?: number
  /** A session's name or a part of it, or what `exactly` of a filter can be. */
  readonly search?: string
}

export interface FoundSessions {
  readonly sessions: readonly CallSession[]
  /** Null if there are no more. */
  readonly nextBeforeId: number | null
}
