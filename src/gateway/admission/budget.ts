import type { MinuteUsage } from '../../call/call-sink.ts'

/** The figures of the token budget. */
export interface BudgetFigures {
  readonly dailyLimit: number
  /** Tokens of the calls that ended in the last 24 hours. */
  readonly totalUsed: number
  /** How many of them no upstream reported. */
  readonly estimated: number
  /** Whether what was used before this gateway's start is among them. */
  readonly isKnown: boolean
  /** Negative when more was used than the limit. */
  readonly remaining: number
  readonly percentageUsed: number
}

/** The client and the upstream of a call, as far as they have budgets of their own. */
export type BudgetOwners = Pick<MinuteUsage, 'of' | 'at'>

/**
 * Counts the tokens of the last 24 hours, and may refuse calls for which too few are left. A call is looked at when it
 * comes, so that it need not wait in vain, and reserves what it may use when it has its slot: so the calls in flight can
 * together not use more than is left, as far as they say what they may use. `nowMs` is Unix time.
 */
export interface Budget {
  /** Throws `token_budget_exceeded`, or `client_budget_exceeded` or `upstream_budget_exceeded`, if a call that may use so many tokens is too much; 0 for one that does not say. */
  check(nowMs: number, tokens: number): void
  /** Reserves what a call may use, until it is disposed; `null` if nobody is refused. Throws as {@link check}. */
  reserve(nowMs: number, tokens: number): Disposable | null
  /** A call ended and used so many tokens that were reported, and so many that are estimated; the owners have budgets of their own. */
  add(nowMs: number, reported: number, estimated: number, owners?: BudgetOwners): void
  snapshot(nowMs: number): BudgetFigures
}
