import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { AdmissionHold, LocalAdmission } from '../admission/local-admission.ts'
import type { LocalBudget } from '../admission/local-budget.ts'

const minutesPerDay = 24 * 60
/** Under `--budget-action reject` a call waits so long to learn what was used before the start. */
const waitLimitMs = 10_000
const retryAfterS = 10

/** Calls wait until it is known what was used before. */
export const untilKnown: AdmissionHold = { limitMs: waitLimitMs, refusal: budgetUnknown }

/**
 * Tells a budget what was used in the 24 hours before this gateway's start, however long it takes to learn it: what a
 * predecessor has told, and of calls that began before `sinceMs` what the database has, if that was not all. `admission` is
 * held until then; `null` if nobody is to wait for it.
 */
export async function restoreBudget(
  budget: LocalBudget,
  admission: Pick<LocalAdmission, 'hold'> | null,
  sink: { usageByMinute(fromMinute: number, sinceMs: number): Promise<readonly MinuteUsage[] | null> },
  clock: Clock,
  { told, isAll, sinceMs }: ToldUsage,
): Promise<void> {
  if (isAll) {
    budget.restore(told)
    return
  }
  admission?.hold(untilKnown)
  for (const usage of told) budget.addTo(usage)
  const minuteNow = Math.floor(clock.wallTime() / 60_000)
  // Not what a predecessor counts, nor what came since: rows of those may be there already.
  const read = await sink.usageByMinute(minuteNow - minutesPerDay, sinceMs)
  if (read === null) return
  budget.restore(read)
  admission?.hold(null)
}

/** What is known of the budget at a start. */
export interface ToldUsage {
  readonly told: readonly MinuteUsage[]
  readonly isAll: boolean
  /** ms since the Unix epoch. */
  readonly sinceMs: number
}

function budgetUnknown(): Failure {
  const message =
    'What was used of the token budget cannot be read from the database yet, so no call is let through (--budget-action reject).'
  return new Failure('budget_unknown', message, { retryAfterS })
}
