import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Sessions } from '../../src/api/sessions.ts'
import type { CallSession } from '../../src/call/call-session.ts'
import { ask } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { reasonOf } from '../data/dashboard-error.ts'
import { useRecordedCalls } from '../data/live.ts'
import { type PageAddress, boundsOf, callsQuery, questionKey } from '../data/page-address.ts'
import { type Answered, useAnswer } from '../data/use-answer.ts'

/** Sessions that are asked for at once. */
const pageSize = 100
/** Calls come many a second: what they change is asked for no oftener than so, in milliseconds. */
const settleMs = 2000

/** A row of the list. */
export interface SessionRow extends CallSession {
  /** The name in letters that a selector of the page can hold. */
  readonly id: string
}

/** The sessions of an address. */
export interface SessionList extends Answered<Sessions> {
  readonly rows: readonly SessionRow[]
  readonly hasMore: boolean
  readonly loadMore: () => void
  /** Why the next page did not come. */
  readonly moreTrouble: string | null
}

/** The page of sessions of a range and filters that follows a cursor. */
export function sessionsPath(address: PageAddress, cursor: string | null): string {
  const { fromMs, toMs } = boundsOf(address.range, nowMs())
  const rest = { limit: String(pageSize), ...(cursor === null ? {} : { cursor }) }
  const query = callsQuery(address, fromMs, address.range.last === null ? toMs : null, rest)
  // A search by id or code belongs to lists of calls; here part of a name is looked for.
  query.delete('q')
  if (address.text.trim() !== '') query.set('q', address.text.trim())
  return `/api/sessions?${query}`
}

/**
 * The rows of what was answered, each session once: it can move to an earlier page while later ones are asked for.
 * Where nothing of a session is another than before, its row is the same one, so that it is not drawn anew.
 */
export function sessionRows(
  sessions: readonly CallSession[],
  before: readonly SessionRow[] = [],
): readonly SessionRow[] {
  const rowsBefore = new Map(before.map((row) => [row.id, row]))
  const byName = new Map<string, SessionRow>()
  for (const one of sessions) {
    const id = encodeURIComponent(one.session.toWellFormed())
    if (byName.has(id)) continue
    const row = { ...one, id }
    const same = rowsBefore.get(id)
    byName.set(id, JSON.stringify(same) === JSON.stringify(row) && same !== undefined ? same : row)
  }
  return [...byName.values()]
}

/** The sessions of an address, the one that was last called in first; renewed when a call of a session ends. */
export function useSessions(address: PageAddress): SessionList {
  const key = questionKey(address, 'sessions', address.text.trim())
  const answered = useAnswer<Sessions>(key, () => sessionsPath(address, null))
  const { answer, isStale, again } = answered
  const [more, setMore] = useState(noPages)
  // A first page that was renewed is followed by the same ones as before.
  const pages = more.key === key ? more : { ...noPages, key }
  const known = useRef<readonly SessionRow[]>([])
  const rows = useMemo(
    () => (known.current = sessionRows([...(answer?.sessions ?? []), ...pages.sessions], known.current)),
    [answer, pages.sessions],
  )
  const cursor = pages.sessions.length > 0 ? pages.cursor : (answer?.next_cursor ?? null)
  const hasMore = cursor !== null && !isStale

  const leaving = useRef<AbortController | null>(null)
  useEffect(() => () => leaving.current?.abort(), [key])
  const loadMore = useCallback(() => {
    if (!hasMore || pages.isLoading) return
    const abort = (leaving.current = new AbortController())
    setMore({ ...pages, isLoading: true, trouble: null })
    ask<Sessions>(sessionsPath(address, cursor), abort.signal).then(
      (next) =>
        setMore({
          ...noPages,
          key,
          sessions: [...pages.sessions, ...next.sessions],
          cursor: next.next_cursor,
        }),
      (error: unknown) => {
        if (!abort.signal.aborted) setMore({ ...pages, isLoading: false, trouble: reasonOf(error) })
      },
    )
  }, [key, cursor, hasMore, pages])

  useAgainOnCalls(address.range.last !== null, (session) => session !== null, again)
  return { ...answered, rows, hasMore, loadMore, moreTrouble: pages.trouble }
}

/** Asks again some time after calls were recorded of a session that `isOne`. */
export function useAgainOnCalls(
  isWanted: boolean,
  isOne: (session: string | null) => boolean,
  again: () => void,
): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const chosen = useRef(isOne)
  chosen.current = isOne
  useRecordedCalls(
    ({ calls, skipped }) => {
      const told = calls as readonly { readonly session?: string | null }[]
      if (!isWanted || timer.current !== undefined) return
      if (skipped === 0 && !told.some(({ session }) => chosen.current(session ?? null))) return
      timer.current = setTimeout(() => {
        timer.current = undefined
        again()
      }, settleMs)
    },
    [isWanted, again],
  )
  useEffect(() => () => clearTimeout(timer.current), [])
}

/** The pages after the first. */
const noPages = {
  key: '',
  sessions: [] as readonly CallSession[],
  cursor: null as string | null,
  isLoading: false,
  trouble: null as string | null,
}
