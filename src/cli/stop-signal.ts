import { exitCode } from './exit-code.ts'

/**
 * Calls back at the first SIGTERM, SIGINT (Ctrl-C) or SIGHUP (the terminal closes); a second one ends the
 * process at once.
 */
export function onStopSignal(stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = (): void => {
    if (stopping) process.exit(exitCode.fault)
    stopping = true
    stop().catch((error: unknown) => {
      console.error('tokenweir: it did not stop in order:', error)
      process.exit(exitCode.fault)
    })
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
}
