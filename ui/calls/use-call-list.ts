import { useMemo } from 'preact/hooks'
import { barScaleMs } from '../call/call-phases.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { PageAddress } from '../data/page-address.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { type PagedList, usePagedList } from '../data/use-paged-list.ts'
import { isNewestFirst, listPath, maxListed } from './calls-question.ts'

/** A list of calls that loads further pages as its reader scrolls to the end. */
export interface CallList extends PagedList<CallsAnswer, CallJson> {
  /** The calls loaded so far, without duplicates. */
  readonly calls: readonly CallJson[]
  /** The number of calls in the whole list; null if unknown. */
  readonly total: number | null
  /** The time of a full bar. */
  readonly scaleMs: number
}

/**
 * Loads the calls of an address when the address changes or `again` is called. New calls are not loaded
 * automatically.
 */
export function useCallList(address: PageAddress): CallList {
  const list = usePagedList<CallsAnswer, CallJson>(
    (nowMs) => listPath(address, nowMs),
    ({ calls }) => calls,
    { most: maxListed },
  )
  const { answer, furtherRows } = list
  const calls = useMemo(() => [...(answer?.calls ?? []), ...furtherRows], [answer, furtherRows])
  const scaleMs = useMemo(() => barScaleMs(answer?.calls ?? []), [answer])
  const total = answer && (isNewestFirst(address) ? answer.summary.calls : calls.length)
  return { ...list, calls, total, scaleMs }
}
