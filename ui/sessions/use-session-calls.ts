import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { type CallsAnswer, ask } from '../data/dashboard-api.ts'
import { reasonOf } from '../data/dashboard-error.ts'
import { useRecordedCalls } from '../data/live.ts'
import { useAgainOnCalls } from './use-sessions.ts'

/** The calls of a page, and the most calls shown of a session. */
const [pageSize, mostCalls] = [1000, 10_000]

export interface SessionCalls {
  /** The calls, oldest first; only the last ones of a longer session. */
  readonly calls: readonly CallJson[]
  /** True once all calls to show are loaded. */
  readonly isLoaded: boolean
  readonly error: string | null
  readonly again: () => void
}

/** Returns the calls of a session from an instant on, and new ones as they end. Null as `from` loads nothing. */
export function useSessionCalls(session: string, from: string | null): SessionCalls {
  const [byId, setById] = useState<ReadonlyMap<string, CallJson>>(new Map())
  const [{ isLoaded, error }, setState] = useState({ isLoaded: false, error: null as string | null })
  const [round, setRound] = useState(0)
  const add = (calls: readonly CallJson[]): void => {
    setById((before) => {
      const added = calls.filter(({ id }) => !before.has(id))
      if (added.length === 0) return before
      const all = [...before, ...added.map((call) => [call.id, call] as const)]
      // Ids grow with time, and all have the same length.
      return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)).slice(-mostCalls))
    })
  }
  useEffect(() => {
    if (from === null) return
    const leaving = new AbortController()
    const load = async (): Promise<void> => {
      let cursor: string | null = null
      let loadedCalls = 0
      do {
        const query = new URLSearchParams({ session, from, limit: String(pageSize) })
        if (cursor !== null) query.set('cursor', cursor)
        // oxlint-disable-next-line no-await-in-loop -- each page begins where the one before ended
        const answer: CallsAnswer = await ask<CallsAnswer>(`/api/query?${query}`, leaving.signal)
        add(answer.calls)
        loadedCalls += answer.calls.length
        cursor = answer.next_cursor
      } while (cursor !== null && loadedCalls < mostCalls)
    }
    load().then(
      () => setState({ isLoaded: true, error: null }),
      (error: unknown) => {
        if (!leaving.signal.aborted) setState((before) => ({ ...before, error: reasonOf(error) }))
      },
    )
    return () => leaving.abort()
  }, [session, from, round])
  useRecordedCalls(
    ({ calls }) => add((calls as readonly CallJson[]).filter((call) => call.session === session)),
    [session],
  )
  const again = useCallback(() => setRound((before) => before + 1), [])
  // Events may skip calls, which are then loaded.
  useAgainOnCalls(true, () => false, again)
  const calls = useMemo(() => [...byId.values()], [byId])
  return { calls, isLoaded, error, again }
}
