import { type Clock, systemClock } from '../../src/call/clock.ts'

/** A clock on which `factor` seconds pass in one, so that a test need not live through what it watches. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now() * factor,
    wallTime: () => systemClock.wallTime(),
    after: (ms, callback, options) => systemClock.after(ms / factor, callback, options),
    delay: (ms, signal) => systemClock.delay(ms / factor, signal),
  }
}
