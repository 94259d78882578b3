import { useMemo, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { useRecordedCalls } from '../data/live.ts'
import { useAgainOnCalls } from '../data/use-again-on-calls.ts'
import { useQuery } from '../data/use-query.ts'

/** The most calls shown of a session, which one answer can have. */
const mostCalls = 10_000

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
  const { answer, error, again } = useQuery<CallsAnswer>(
    from === null ? null : `/api/query?${new URLSearchParams({ session, from, limit: String(mostCalls) })}`,
  )
  const [recorded, setRecorded] = useState<readonly CallJson[]>([])
  useRecordedCalls(
    ({ calls }) => {
      const own = (calls as readonly CallJson[]).filter((call) => call.session === session)
      if (own.length > 0) setRecorded((before) => [...before, ...own])
    },
    [session],
  )
  // Events may skip calls, which are then loaded.
  useAgainOnCalls(true, () => false, again)
  const calls = useMemo(() => {
    const byId = new Map([...(answer?.calls ?? []), ...recorded].map((call) => [call.id, call]))
    // Ids grow with time, and all have the same length.
    return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(-mostCalls)
  }, [answer, recorded])
  return { calls, isLoaded: answer !== null, error, again }
}
