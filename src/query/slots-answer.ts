import type { SlotWaitsReport } from '../api/slot-waits.ts'
import type { StoreReader } from '../call/call-reader.ts'
import { windowOf } from './asked-range.ts'
import type { SlotsQuestion } from './query-question.ts'
import { estimate, leastSlots, loadOf, mostAtOnce, waitFigures } from './slot-estimates.ts'

/** Most calls that are read, newest first, and the time limit. Each estimate goes through all of them. */
const most = { calls: 300_000, readingMs: 1500 } as const
/** Additional slots of the estimates. */
const steps = [0, 1, 2, 4] as const
const shortWaitP95Ms = 100

/** Waits of calls for slots of an upstream: recorded, and simulated with other limits. */
export async function slotsAnswer(
  reader: StoreReader,
  { range, upstreamName, maxConcurrent, cooldownMs }: SlotsQuestion,
  nowMs: number,
): Promise<SlotWaitsReport> {
  const { fromMs, toMs } = windowOf(range, nowMs)
  const unfoldedFromMs = Math.min(Math.max(fromMs, (await reader.foldedUntilMs()) ?? 0), toMs)
  const bounds = { upstreamName, most: most.calls, withinMs: most.readingMs }
  const uses = await reader.slotUses({ ...bounds, fromMs: unfoldedFromMs, toMs })
  const limits = await reader.history.limits(fromMs, toMs)
  const limit = maxConcurrent ?? limits.at(-1)?.maxConcurrent ?? null
  const load = loadOf(uses)
  const calls = uses.heldMs.filter((ms) => ms >= 0).length
  const needed = mostAtOnce(load)
  const short = needed === 0 ? null : leastSlots(needed, load, { cooldownMs, waitP95Ms: shortWaitP95Ms })
  const shown = limit === null || short === null ? [] : [...steps.map((more) => limit + more), short, needed]
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    counted_from: uses.fromMs <= fromMs ? null : new Date(uses.fromMs).toISOString(),
    max_concurrent: limit,
    calls,
    turned_away: uses.heldMs.length - calls,
    recorded: waitFigures(uses.waitMs.filter((_, index) => (uses.heldMs[index] ?? -1) >= 0)),
    estimates: [...new Set(shown)]
      .sort((a, b) => a - b)
      .filter((slots) => slots === limit || slots <= Math.max(needed, limit ?? 0))
      .map((slots) => estimate(slots, load, cooldownMs)),
    short_waits_at: short,
    no_waits_at: needed === 0 ? null : needed,
  }
}
