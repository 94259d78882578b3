import { Failure } from '../../call/failure.ts'
import { type Owner, isUpstream, nameOfOwner } from './owner.ts'
import type { TokenFigures } from './token-window.ts'

/** `Retry-After` in seconds while the past use is unknown. */
const unknownRetryS = 10

/** The state of a budget that has too little left for a call. */
export interface BudgetShortage extends TokenFigures {
  /** Tokens that calls in flight may still use. */
  readonly reserved: number
  /** Whole seconds (at least 1) until the window has room for the call; `null` if the call exceeds the whole limit. */
  readonly retryAfterS: number | null
}

/** The refusal of a call that may use up to `tokens` tokens, more than the owner's budget has left. */
export function budgetRefusal(shortage: BudgetShortage, tokens: number, owner: Owner): Failure {
  const { dailyLimit, totalUsed, remaining, retryAfterS } = shortage
  const headers = [
    'X-Token-Budget-Limit',
    String(dailyLimit),
    'X-Token-Budget-Used',
    String(totalUsed),
    'X-Token-Budget-Remaining',
    String(remaining),
  ]
  const why = retryAfterS === null ? neverPasses(dailyLimit, tokens) : notNow(shortage, tokens)
  const when = retryAfterS === null ? {} : { retryAfterS }
  const [code, limit] = limitOf(owner)
  return new Failure(code, `${why} (${limit}).`, { ...when, headers })
}

function limitOf(owner: Owner) {
  if (owner === 'all') return ['token_budget_exceeded', '--token-limit'] as const
  const limit = `the token_limit of ${nameOfOwner(owner)} in`
  if (isUpstream(owner)) return ['upstream_budget_exceeded', `${limit} upstreams.json`] as const
  return ['client_budget_exceeded', `${limit} clients.json`] as const
}

function notNow({ dailyLimit, totalUsed, reserved }: BudgetShortage, tokens: number): string {
  const used = `Of the ${dailyLimit} tokens of any 24 hours ${totalUsed} are used`
  const inFlight = reserved > 0 ? `, and calls in flight may use ${reserved} more` : ''
  const demand = tokens > 0 ? `; this call may use up to ${tokens}` : ''
  return used + inFlight + demand
}

function neverPasses(dailyLimit: number, tokens: number): string {
  const demand = Number.isFinite(tokens) ? `up to ${tokens} tokens` : 'more tokens than can be counted'
  return `This call may use ${demand}, and any 24 hours have ${dailyLimit}: it never passes, and a retry cannot help`
}

/** The refusal of a call while the owner's past use is unknown. */
export function budgetUnknown(owner: Owner): Failure {
  const [what, subject] =
    owner === 'all'
      ? ['The use of the token budget', 'call is']
      : [`The token use of ${nameOfOwner(owner)}`, 'call of it is']
  const message = `${what} cannot be read from the database yet, so no ${subject} let through (--budget-action reject).`
  return new Failure('budget_unknown', message, { retryAfterS: unknownRetryS })
}
