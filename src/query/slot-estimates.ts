import { quantileOf } from '../lib/histogram.ts'
import type { SlotEstimate, SlotWaits } from '../api/slot-waits.ts'
import type { SlotUses } from '../call/call-reader.ts'

/** A call waits if that takes longer. */
const waitedFromMs = 1

/** By when each call asks for a slot, and for how long it holds one. */
export interface SlotLoad {
  /** Rising. */
  readonly askedMs: Float64Array
  readonly heldMs: Float64Array
}

/** The load of calls; those that never had a slot hold one for as long as half of the others did at least. */
export function loadOf({ askedMs, heldMs }: Pick<SlotUses, 'askedMs' | 'heldMs'>): SlotLoad {
  const typicalMs = percentileOf(heldMs.filter((ms) => ms >= 0).sort(), 0.5) ?? 0
  const order = Uint32Array.from(askedMs.keys()).sort((one, other) => at(askedMs, one) - at(askedMs, other))
  const inOrder = (values: Float64Array): Float64Array =>
    Float64Array.from(order, (index) => at(values, index))
  return {
    askedMs: inOrder(askedMs),
    heldMs: inOrder(heldMs).map((ms) => (ms < 0 ? typicalMs : ms)),
  }
}

/**
 * Each call's wait (ms) with this many slots: calls are served in order, a slot rests for
 * `cooldownMs` before a waiting call gets it, and the upstream is as fast as it was.
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

/** How many calls would have held a slot at once if there had been one for each. */
export function mostAtOnce({ askedMs, heldMs }: SlotLoad): number {
  const endsMs = askedMs.map((askMs, call) => askMs + at(heldMs, call)).sort()
  let ended = 0
  return askedMs.reduce((most, askMs, call) => {
    while (ended < call && at(endsMs, ended) <= askMs) ended++
    return Math.max(most, call + 1 - ended)
  }, 0)
}

/** The least limit from 1 to `most` with which at least `share` of the calls wait no longer than `waitMs`. */
export function leastSlots(
  most: number,
  load: SlotLoad,
  {
    cooldownMs,
    waitMs,
    share,
  }: { readonly cooldownMs: number; readonly waitMs: number; readonly share: number },
): number {
  let [least, enough] = [1, most]
  while (least < enough) {
    const slots = Math.floor((least + enough) / 2)
    const within = waitsWith(slots, load, cooldownMs).reduce((n, ms) => (ms <= waitMs ? n + 1 : n), 0)
    if (within >= share * load.askedMs.length) enough = slots
    else least = slots + 1
  }
  return enough
}

export function waitFigures(waitsMs: Float64Array): SlotWaits {
  const sorted = waitsMs.toSorted()
  return {
    waited: sorted.reduce((n, ms) => (ms >= waitedFromMs ? n + 1 : n), 0),
    wait_p95_ms: percentileOf(sorted, 0.95),
    wait_max_ms: percentileOf(sorted, 1),
  }
}

export function estimate(slots: number, load: SlotLoad, cooldownMs: number): SlotEstimate {
  return { max_concurrent: slots, ...waitFigures(waitsWith(slots, load, cooldownMs)) }
}

/** In whole microseconds; null of none. */
function percentileOf(sorted: Float64Array, share: number): number | null {
  const value = quantileOf(sorted.length, share, (rank) => at(sorted, rank))
  return value === null ? null : Math.round(value * 1000) / 1000
}

/** Puts another value in the place of a binary heap's least, its first. */
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
