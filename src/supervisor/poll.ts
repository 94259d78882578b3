import type { Clock } from '../call/clock.ts'

export interface PollOptions<T> {
  readonly clock: Clock
  readonly everyMs: number
  readonly look: () => Promise<T>
  readonly onFault: (error: unknown) => void
}

export interface Poll {
  /** Looks at once, or right after the look under way, which may have been too early. */
  refresh(): void
  /** Nothing is told any more. */
  stop(): void
}

/** Looks now and then at intervals, never twice at a time, and tells what it saw. */
export function startPoll<T>(
  { clock, everyMs, look, onFault }: PollOptions<T>,
  tell: (seen: T) => void = () => {},
): Poll {
  let isStopped = false
  let isLooking = false
  let again = false
  let cancelNext = (): void => {}
  const refresh = (): void => {
    again = true
    if (!isLooking) run().catch(onFault)
  }
  const run = async (): Promise<void> => {
    cancelNext()
    isLooking = true
    while (again) {
      again = false
      try {
        const seen = await look()
        if (!isStopped) tell(seen)
      } catch (error) {
        onFault(error)
      }
    }
    isLooking = false
    if (!isStopped) cancelNext = clock.after(everyMs, refresh, { background: true })
  }
  refresh()
  return {
    refresh,
    stop: () => {
      isStopped = true
      again = false
      cancelNext()
    },
  }
}
