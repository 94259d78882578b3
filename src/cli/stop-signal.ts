import { exitCode } from './exit-code.ts'

/** Time limit for the stop after a second signal. */
const hurryLimitMs = 5000

/**
 * Calls back at the first SIGTERM, SIGINT (Ctrl-C) or SIGHUP (the terminal closes). At a second signal
 * `hurry` runs, which must leave nothing behind, and the process ends.
 */
export function onStopSignal(
  stop: () => Promise<void>,
  hurry: () => Promise<unknown> = async () => {},
): void {
  let stopping = false
  const endAfter = (last: Promise<unknown>): void => {
    last.catch(() => {}).finally(() => process.exit(exitCode.fault))
    setTimeout(() => process.exit(exitCode.fault), hurryLimitMs)
  }
  const onSignal = (): void => {
    if (stopping) {
      endAfter(hurry())
      return
    }
    stopping = true
    stop().catch((error: unknown) => {
      console.error('tokenweir: did not stop cleanly:', error)
      endAfter(hurry())
    })
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
}
