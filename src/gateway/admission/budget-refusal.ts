import { Failure } from '../../call/failure.ts'
import type { BudgetFigures } from './budget.ts'
import { type Owner, isUpstream, nameOfOwner } from './owner.ts'

/** Why a call is more than the budget still allows. */
export interface BudgetShortage extends BudgetFigures {
  /** Tokens that calls in flight may still use. */
  readonly reserved: number
  /** Whole seconds until enough tokens have left the window, at least one; `null` if the whole limit is not enough. */
  readonly retryAfterS: number | null
}

/** The answer to a call that may use so many tokens, and is too much for the budget; of all calls, or of one client's or upstream's. */
export function budgetRefusal(shortage: BudgetShortage, tokens: number, owner: Owner | null = null): Failure {
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
  if (owner === null) {
    return new Failure('token_budget_exceeded', `${why} (--token-limit).`, { ...when, headers })
  }
  const name = nameOfOwner(owner)
  if (isUpstream(owner)) {
    const words = `${why} (the token_limit of ${name} in upstreams.json).`
    return new Failure('upstream_budget_exceeded', words, { ...when, headers })
  }
  const words = `${why} (the token_limit of ${name} in clients.json).`
  return new Failure('client_budget_exceeded', words, { ...when, headers })
}

function notNow({ dailyLimit, totalUsed, reserved }: BudgetShortage, tokens: number): string {
  const used = `Of the ${dailyLimit} tokens of any 24 hours ${totalUsed} are used`
  const inFlight = reserved > 0 ? `, and calls in flight may use ${reserved} more` : ''
  const asked = tokens > 0 ? `; this call may use up to ${tokens}` : ''
  return used + inFlight + asked
}

function neverPasses(dailyLimit: number, tokens: number): string {
  const asked = Number.isFinite(tokens) ? `up to ${tokens} tokens` : 'more tokens than can be counted'
  return `This call may use ${asked}, and any 24 hours have ${dailyLimit}: it never passes, whenever it is tried again`
}
