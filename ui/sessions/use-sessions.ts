import { useMemo, useRef } from 'preact/hooks'
import type { Sessions } from '../../src/api/sessions.ts'
import type { CallSession } from '../../src/call/figures.ts'
import { sessionSorts } from '../../src/call/call-session.ts'
import { orderOf } from '../data/changed-address.ts'
import { type PageAddress, callsQuery } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'
import { useAgainOnCalls } from '../data/use-again-on-calls.ts'
import { type PagedList, usePagedList } from '../data/use-paged-list.ts'

const [usualOrder] = sessionSorts
/** The number of sessions in a page. */
const pageSize = 100
/** The pause before the next request in another order, which reads all sessions of the range. */
const settleSortedMs = 10_000

/** A row of the list. */
export interface SessionRow extends CallSession {
  /** The session's name, encoded for use in a selector. */
  readonly id: string
}

/** The sessions of an address. */
export interface SessionList extends PagedList<Sessions, CallSession> {
  readonly rows: readonly SessionRow[]
}

/** Returns the API path for the first page of sessions in a range and filters. */
function sessionsPath(address: PageAddress, nowMs: number): string {
  const sort = orderOf('sessions', address)
  const parameters = {
    limit: String(pageSize),
    ...(sort !== usualOrder && { sort }),
    ...(address.rising && { rising: 'true' }),
  }
  const query = callsQuery(address, questionTime(address, nowMs), parameters)
  // A search by id or code belongs to lists of calls, and this view searches names.
  query.delete('q')
  if (address.text.trim() !== '') query.set('q', address.text.trim())
  return `/api/sessions?${query}`
}

/**
 * Returns the rows of the answers. A session that moved to an earlier page, while later ones were loaded, appears
 * once. An unchanged session keeps its row object, so that the row is not rendered again.
 */
function sessionRows(
  sessions: readonly CallSession[],
  before: readonly SessionRow[] = [],
): readonly SessionRow[] {
  const rowsBefore = new Map(before.map((row) => [row.id, row]))
  const byName = new Map<string, SessionRow>()
  for (const summary of sessions) {
    const id = encodeURIComponent(summary.session.toWellFormed())
    if (byName.has(id)) continue
    const row = { ...summary, id }
    const same = rowsBefore.get(id)
    byName.set(id, JSON.stringify(same) === JSON.stringify(row) && same !== undefined ? same : row)
  }
  return [...byName.values()]
}

/** Returns the sessions of an address in its order, loaded again when a call of a session ends. */
export function useSessions(address: PageAddress): SessionList {
  const list = usePagedList<Sessions, CallSession>(
    (nowMs) => sessionsPath(address, nowMs),
    ({ sessions }) => sessions,
    { keepsPages: true },
  )
  const { key, answer, furtherRows, again } = list
  const lastRows = useRef<{ readonly key: string | null; readonly rows: readonly SessionRow[] }>({
    key,
    rows: [],
  })
  const rows = useMemo(() => {
    const before = lastRows.current.key === key ? lastRows.current.rows : []
    // Sessions that dropped out of the renewed first page come before the next pages.
    const pushedOff = furtherRows.length > 0 ? before : []
    const now = sessionRows([...(answer?.sessions ?? []), ...pushedOff, ...furtherRows], before)
    lastRows.current = { key, rows: now }
    return now
  }, [key, answer, furtherRows])

  const isUsual = orderOf('sessions', address) === usualOrder && !address.rising
  useAgainOnCalls(
    address.range.last !== null,
    (session) => session !== null,
    again,
    isUsual ? undefined : settleSortedMs,
  )
  return { ...list, rows }
}
