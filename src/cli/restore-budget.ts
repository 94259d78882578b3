import type { MinuteUsage } from '../call/call-sink.ts'
import type { Clock } from '../call/clock.ts'
import type { Budget } from '../gateway/admission/budget.ts'

const minutesPerDay = 24 * 60

/**
 * A budget counts from the first call on; what the last 24 hours used is added when it is known: at once where a former
 * gateway has told it, else when the database has. Resolves with whether it is known now; the sink's warnings say why not.
 */
export async function restoreBudget(
  budget: Budget,
  sink: { usageByMinute(fromMinute: number): Promise<readonly MinuteUsage[]> },
  clock: Clock,
  told: readonly MinuteUsage[] | null,
): Promise<boolean> {
  const minuteNow = Math.floor(clock.wallTime() / 60_000)
  try {
    budget.restore(told ?? (await sink.usageByMinute(minuteNow - minutesPerDay)))
    return true
  } catch {
    return false
  }
}
