import { oneAtATime } from './one-at-a-time.ts'

export interface PollOptions<T> {
  readonly clock: {
    after(ms: number, callback: () => void, options: { readonly background: boolean }): () => void
  }
  readonly everyMs: number
  readonly read: () => Promise<T>
  readonly onFault: (error: unknown) => void
}

export interface Poll {
  /** Polls now, or right after the running poll, which may have been too early. */
  readonly refresh: () => void
  /** Ends polling; `onRead` is not called again. */
  readonly stop: () => void
}

/** Polls at once and then at intervals, one at a time, and passes on each result. */
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
