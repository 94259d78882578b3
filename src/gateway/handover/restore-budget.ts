import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { LocalAdmission } from '../admission/local-admission.ts'
import type { LocalBudget } from '../admission/local-budget.ts'

const minutesPerDay = 24 * 60
/** Under `--budget-action reject` a call waits so long to learn what was used before the start. */
const waitLimitMs = 10_000
const retryAfterS = 10

/** What a predecessor knows of what was used. */
export interface ToldUsage {
  readonly used: readonly MinuteUsage[]
  readonly usedIsAll: boolean
  /** The rest, once it knows that; null if it has ended before. */
  readonly past: Promise<readonly MinuteUsage[] | null>
}

/**
 * Tells a budget what was used in the 24 hours before this gateway's start, however long it takes to learn it: from a
 * predecessor, or else from the database. `admission` is held until then; `null` if nobody is to wait for it.
 */
export async function restoreBudget(
  budget: LocalBudget,
  admission: LocalAdmission | null,
  sink: { usageByMinute(fromMinute: number): Promise<readonly MinuteUsage[] | null> },
  clock: Clock,
  told: ToldUsage | null,
): Promise<void> {
  if (told?.usedIsAll === true) {
    budget.restore(told.used)
    return
  }
  admission?.hold({ limitMs: waitLimitMs, refusal: budgetUnknown })
  for (const usage of told?.used ?? []) budget.addTo(usage)
  // What it tells of its own calls would be counted twice if the database, to which it writes them, was read meanwhile.
  const past = told === null ? null : await told.past
  const minuteNow = Math.floor(clock.wallTime() / 60_000)
  const read = past ?? (await sink.usageByMinute(minuteNow - minutesPerDay))
  if (read === null) return
  budget.restore(read)
  admission?.hold(null)
}

function budgetUnknown(): Failure {
  const message =
    'What was used of the token budget cannot be read from the database yet, so no call is let through (--budget-action reject).'
  return new Failure('budget_unknown', message, { retryAfterS })
}
