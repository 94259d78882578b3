import { oneAtATime } from './one-at-a-time.ts'

/** The function to poll, its interval, and the handler of its errors. */
export interface PollOptions<T> {
  readonly clock: {
    after(ms: number, callback: () => void, options: { readonly background: boolean }): () => void
  }
  readonly everyMs: number
  readonly read: () => Promise<T>
  readonly onFault: (error: unknown) => void
}

/** A running poll. */
export interface Poll {
  /** Polls now; if a poll is running, once more after it. */
  readonly refresh: () => void
  /** Ends polling; `onRead` is not called again. */
  readonly stop: () => void
}

/** Polls at once and then at intervals, never twice at the same time, and passes on each result. */
export function startPoll<T>(
  { clock, everyMs, read, onFault }: PollOptions<T>,
  onRead: (value: T) => void = () => {},
): Poll {
  let isStopped = false
  let cancelNext = (): void => {}
  const refresh = oneAtATime(async () => {
    cancelNext()
    if (isStopped) return false
    try {
      const value = await read()
      if (!isStopped) onRead(value)
    } catch (error) {
      onFault(error)
    }
    if (!isStopped) cancelNext = clock.after(everyMs, refresh, { background: true })
    return false
  })
  refresh()
  return {
    refresh,
    stop: () => {
      isStopped = true
      cancelNext()
    },
  }
}
