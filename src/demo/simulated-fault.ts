import type { Random } from './random.ts'

/**
 * - `rate_limited`: answered 429.
 * - `server_error`: answered 500.
 * - `broken`: the connection breaks within the answer.
 * - `stalled`: the answer pauses for seconds and then continues.
 */
export type SimulatedFault = 'rate_limited' | 'server_error' | 'broken' | 'stalled'

/** The share of calls with each fault: 0.01 is one in a hundred. */
export type FaultShares = Readonly<Record<SimulatedFault, number>>

/** The faults of a good upstream on an ordinary day, slightly exaggerated. */
export const ordinaryFaults: FaultShares = {
  rate_limited: 0.015,
  server_error: 0.01,
  broken: 0.01,
  stalled: 0.04,
}

/** Draws the fault of a call; null for most calls. */
export function drawFault(random: Random, shares: FaultShares): SimulatedFault | null {
  let draw = random()
  for (const fault of ['rate_limited', 'server_error', 'broken', 'stalled'] as const) {
    draw -= shares[fault]
    if (draw < 0) return fault
  }
  return null
}
