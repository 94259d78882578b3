import { useEffect, useRef } from 'preact/hooks'
import { useRecordedCalls } from './live.ts'

/** Many calls may end each second, but a list is requested at most this often. */
const settleMs = 2000

/**
 * Calls `again` some time after calls were recorded whose session `isOne` accepts, and after calls that the page may
 * have missed.
 */
export function useAgainOnCalls(
  isWanted: boolean,
  isOne: (session: string | null) => boolean,
  again: () => void,
  afterMs: number = settleMs,
): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const chosen = useRef(isOne)
  chosen.current = isOne
  useRecordedCalls(
    ({ calls, skipped }) => {
      const ended = calls as readonly { readonly session?: string | null }[]
      if (!isWanted || timer.current !== undefined) return
      if (skipped === 0 && !ended.some(({ session }) => chosen.current(session ?? null))) return
      timer.current = setTimeout(() => {
        timer.current = undefined
        again()
      }, afterMs)
    },
    [isWanted, again, afterMs],
  )
  useEffect(() => () => clearTimeout(timer.current), [])
}
