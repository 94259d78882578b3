import type { GatewayMinute } from '../call/call-sink.ts'

/** When a call came, got its slot, and gave it back: ms since the Unix epoch. */
export interface SlotStay {
  readonly cameMs: number
  readonly beganMs: number
  readonly endedMs: number
}

interface Change {
  readonly atMs: number
  readonly active: number
  readonly waiting: number
}

const minuteMs = 60_000
/** A shorter wait is the gateway's own work. */
const leastWaitMs = 1

/** The minutes that a gateway with this many slots would have recorded, with idle ones. */
export function* pastMinutes(
  stays: readonly SlotStay[],
  { fromMs, toMs, slots }: { readonly fromMs: number; readonly toMs: number; readonly slots: number },
): Generator<GatewayMinute> {
  const changes = stays.flatMap(changesOf).sort((one, other) => one.atMs - other.atMs)
  let [next, active, waiting] = [0, 0, 0]
  for (let minute = Math.floor(fromMs / minuteMs); (minute + 1) * minuteMs <= toMs; minute++) {
    let [sinceMs, atLimitMs, admitted] = [minute * minuteMs, 0, 0]
    let [activeMax, queuedMax] = [active, waiting]
    const pass = (untilMs: number): void => {
      if (active >= slots) atLimitMs += untilMs - sinceMs
      sinceMs = untilMs
    }
    for (let change = changes[next]; change !== undefined; change = changes[++next]) {
      if (change.atMs >= (minute + 1) * minuteMs) break
      pass(Math.max(sinceMs, change.atMs))
      active += change.active
      waiting += change.waiting
      if (change.active > 0) admitted++
      activeMax = Math.max(activeMax, active)
      queuedMax = Math.max(queuedMax, waiting)
    }
    pass((minute + 1) * minuteMs)
    yield { minute, activeMax: Math.min(slots, activeMax), queuedMax, atLimitMs, admitted, dropped: 0 }
  }
}

function changesOf({ cameMs, beganMs, endedMs }: SlotStay): readonly Change[] {
  const used = [
    { atMs: beganMs, active: 1, waiting: 0 },
    { atMs: endedMs, active: -1, waiting: 0 },
  ]
  if (beganMs - cameMs < leastWaitMs) return used
  return [{ atMs: cameMs, active: 0, waiting: 1 }, { atMs: beganMs, active: 0, waiting: -1 }, ...used]
}
