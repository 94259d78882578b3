import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { Budget, BudgetShortage } from './budget.ts'

/**
 * Keeps calls out for which the budget has not enough left. A call is looked at when it comes, so that it need
 * not wait in vain, and reserves what it may use when it has its slot: so the calls in flight can together not
 * use more than is left, as far as they say what they may use.
 */
export class BudgetGate {
  readonly #budget: Budget
  readonly #clock: Clock

  constructor(budget: Budget, clock: Clock) {
    this.#budget = budget
    this.#clock = clock
  }

  /** Throws `token_budget_exceeded` where a call that may use so many tokens is too much; 0 for one that does not say. */
  check(tokens: number): void {
    const shortage = this.#budget.shortage(this.#clock.wallTime(), tokens)
    if (shortage !== null) throw refusal(shortage, tokens)
  }

  /** Reserves what a call may use, until it is disposed. Throws as {@link check}. */
  reserve(tokens: number): Disposable {
    this.check(tokens)
    return this.#budget.reserve(tokens)
  }
}

function refusal(shortage: BudgetShortage, tokens: number): Failure {
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
  return new Failure('token_budget_exceeded', `${why} (--token-limit).`, { ...when, headers })
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
