import { useCallback, useMemo } from 'preact/hooks'
import { barScaleMs } from '../call/call-phases.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { PageAddress } from '../data/page-address.ts'
import { type CallsAnswer, ask } from '../data/dashboard-api.ts'
import { type QueryState, useQuery } from '../data/use-query.ts'
import { type FurtherPage, useFurtherPages } from '../data/use-further-pages.ts'
import {
  type ListedBounds,
  isNewestFirst,
  listKey,
  listPath,
  listedBounds,
  maxListed,
} from './calls-question.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** A list of calls that grows as its reader comes to its end. */
export interface CallList extends QueryState<CallsAnswer> {
  /** The calls loaded so far, without duplicates. */
  readonly calls: readonly CallJson[]
  /** The number of calls in the whole list; null if unknown. */
  readonly total: number | null
  /** The time that fills the room of each bar. */
  readonly scaleMs: number
  readonly hasMore: boolean
  /** Asks for the next page, unless it is on its way. */
  readonly loadMore: () => void
  /** Loads the next page, unless the last try failed: then only a press of the button does. */
  readonly comeNear: () => void
  /** Why the next page did not come; asked for again by `loadMore`. */
  readonly moreError: string | null
}

/** The calls that an address means: asked for when it changes or `again` is called, never by itself. */
export function useCallList(address: PageAddress): CallList {
  const query = useQuery<CallsAnswer, ListQuestion>(listKey(address), () => {
    const bounds = listedBounds(address, nowMs())
    return { bounds, path: listPath(address, bounds) }
  })
  const { answer, question, isStale } = query
  const load = useCallback(
    async (cursor: string, signal: AbortSignal): Promise<FurtherPage<CallJson>> => {
      // Further pages keep to the range of the first.
      const bounds = question?.bounds ?? listedBounds(address, nowMs())
      const next = await ask<CallsAnswer>(listPath(address, bounds, cursor), signal)
      return { rows: next.calls, cursor: next.next_cursor }
    },
    [address, question],
  )
  const pages = useFurtherPages<CallJson>(
    {
      list: answer,
      cursor: isStale ? null : (answer?.next_cursor ?? null),
      most: maxListed - (answer?.calls.length ?? 0),
    },
    load,
  )
  const { hasMore, loadMore } = pages
  const calls = useMemo(() => [...(answer?.calls ?? []), ...pages.rows], [answer, pages.rows])

  const comeNear = useCallback(() => {
    if (pages.error === null) loadMore()
  }, [pages.error, loadMore])

  const scaleMs = useMemo(() => barScaleMs(answer?.calls ?? []), [answer])
  const total = answer && (isNewestFirst(address) ? answer.summary.calls : calls.length)
  return { ...query, calls, total, scaleMs, hasMore, loadMore, comeNear, moreError: pages.error }
}

interface ListQuestion {
  readonly path: string
  readonly bounds: ListedBounds
}
