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

/** A list of calls that loads further pages as its reader scrolls to the end. */
export interface CallList extends QueryState<CallsAnswer> {
  /** The calls loaded so far, without duplicates. */
  readonly calls: readonly CallJson[]
  /** The number of calls in the whole list; null if unknown. */
  readonly total: number | null
  /** The time of a full bar. */
  readonly scaleMs: number
  readonly hasMore: boolean
  /** Requests the next page, unless a request is in progress. */
  readonly loadMore: () => void
  /** Requests the next page, unless the last request failed. After a failure, only the button requests it. */
  readonly comeNear: () => void
  /** The error of the last page's request; null after a success. `loadMore` tries again. */
  readonly moreError: string | null
}

/**
 * Loads the calls of an address when the address changes or `again` is called. New calls are not loaded
 * automatically.
 */
export function useCallList(address: PageAddress): CallList {
  const query = useQuery<CallsAnswer, ListQuestion>(listKey(address), () => {
    const bounds = listedBounds(address, nowMs())
    return { bounds, path: listPath(address, bounds) }
  })
  const { answer, question, isStale } = query
  const load = useCallback(
    async (cursor: string, signal: AbortSignal): Promise<FurtherPage<CallJson>> => {
      // Further pages use the range of the first page.
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
