/** Loaded before a gateway: writes into a file for how long its event loop stood still at most, in milliseconds. */
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env['TOKENWEIR_LOOP_DELAY']
const resolutionMs = 5
if (file !== undefined && isMainThread) {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  // From one question to the next.
  process.on('SIGUSR2', () => histogram.reset())
  setInterval(() => {
    writeFileSync(file, String(Math.max(0, histogram.max / 1e6 - resolutionMs)))
  }, 50).unref()
}
