import { quantileOf } from '../lib/histogram.ts'
import type { SlotEstimate, SlotWaits } from '../api/slot-waits.ts'
import type { SlotUses } from '../call/call-reader.ts'

/** A call counts as waiting from this wait on. */
const waitedFromMs = 1

/** The times at which calls ask for a slot, and the times for which they use one. */
export interface SlotLoad {
  /** When calls ask for a slot, rising (ms). */
  readonly askedMs: Float64Array
  readonly heldMs: Float64Array
}

/** The load of calls. A call that never had a slot counts with the median time of the others. */
export function loadOf({ askedMs, heldMs }: Pick<SlotUses, 'askedMs' | 'heldMs'>): SlotLoad {
  const typicalMs = percentileOf(heldMs.filter((ms) => ms >= 0).sort(), 0.5) ?? 0
  const order = Uint32Array.from(askedMs.keys()).sort((a, b) => at(askedMs, a) - at(askedMs, b))
  const inOrder = (values: Float64Array): Float64Array =>
    Float64Array.from(order, (index) => at(values, index))
  return {
    askedMs: inOrder(askedMs),
    heldMs: inOrder(heldMs).map((ms) => (ms < 0 ? typicalMs : ms)),
  }
}

/**
 * Each call's simulated wait (ms) with this many slots. Calls are served in order, a slot cools for
 * `cooldownMs` before a waiting call gets it, and the upstream is as fast as recorded.
 */
export function waitsWith(slots: number, { askedMs, heldMs }: SlotLoad, cooldownMs: number): Float64Array {
  const free = new Float64Array(Math.min(slots, askedMs.length)).fill(Number.NEGATIVE_INFINITY)
  return askedMs.map((askMs, call) => {
    const freeMs = at(free, 0)
    const startMs = freeMs <= askMs ? askMs : freeMs + cooldownMs
    replaceLeast(free, startMs + at(heldMs, call))
    return startMs - askMs
  })
}

/** The most slots in use at the same time, without a limit. */
export function mostAtOnce({ askedMs, heldMs }: SlotLoad): number {
  const endsMs = askedMs.map((askMs, call) => askMs + at(heldMs, call)).sort()
  let ended = 0
  return askedMs.reduce((most, askMs, call) => {
    while (ended < call && at(endsMs, ended) <= askMs) ended++
    return Math.max(most, call + 1 - ended)
  }, 0)
}

/** The lowest limit, from 1 to `most`, whose estimate has a p95 wait of at most `waitP95Ms`. */
export function leastSlots(
  most: number,
  load: SlotLoad,
  { cooldownMs, waitP95Ms }: { readonly cooldownMs: number; readonly waitP95Ms: number },
): number {
  let [least, enough] = [1, most]
  while (least < enough) {
    const slots = Math.floor((least + enough) / 2)
    if ((estimate(slots, load, cooldownMs).wait_p95_ms ?? 0) <= waitP95Ms) enough = slots
    else least = slots + 1
  }
  return enough
}

/** The figures of some waits. */
export function waitFigures(waitsMs: Float64Array): SlotWaits {
  const sorted = waitsMs.toSorted()
  return {
    waited: sorted.reduce((n, ms) => (ms >= waitedFromMs ? n + 1 : n), 0),
    wait_p95_ms: percentileOf(sorted, 0.95),
    wait_max_ms: percentileOf(sorted, 1),
  }
}

/** The simulated waits with this many slots. */
export function estimate(slots: number, load: SlotLoad, cooldownMs: number): SlotEstimate {
  return { max_concurrent: slots, ...waitFigures(waitsWith(slots, load, cooldownMs)) }
}

/** A percentile of sorted values, rounded to microseconds; null without values. */
function percentileOf(sorted: Float64Array, share: number): number | null {
  const value = quantileOf(sorted.length, share, (rank) => at(sorted, rank))
  return value === null ? null : Math.round(value * 1000) / 1000
}

/** Replaces the least value of a binary heap, which is the first. */
function replaceLeast(heap: Float64Array, value: number): void {
  let index = 0
  for (;;) {
    let child = 2 * index + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && at(heap, child + 1) < at(heap, child)) child++
    if (at(heap, child) >= value) break
    heap[index] = at(heap, child)
    index = child
  }
  heap[index] = value
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0
}
