import type { CacheFigures } from './call-question.ts'

/**
 * A session and what its calls come to: all that are recorded, whichever of them was asked for; of over 100,000 the
 * newest. Times are ISO 8601, UTC.
 */
export interface CallSession extends CacheFigures {
  readonly session: string
  /** Of the last call, as `client`. */
  readonly session_source: string | null
  readonly client: string | null
  /** The twenty with the most calls, those with more first. */
  readonly models: readonly string[]
  /** When the first call began. */
  readonly first_at: string
  /** When the last call began. */
  readonly last_at: string
  readonly calls: number
  /** Calls that failed; those whose client left are none. */
  readonly errors: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens: number
  readonly reasoning_tokens: number
  /** Tools that the answers asked for. */
  readonly tool_calls: number
  /** Of the calls that have a price; null where none has. */
  readonly cost_usd: number | null
  /** Calls with usage and no price. */
  readonly unpriced_calls: number
  /** From the first call's head to the last byte of all. */
  readonly wall_ms: number
  /** The time in which at least one call was open. */
  readonly in_calls_ms: number
  /** The rest: tools, the agent's own work, and its user. */
  readonly between_ms: number
}

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
