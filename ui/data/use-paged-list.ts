import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask } from './dashboard-api.ts'
import { reasonOf } from './dashboard-error.ts'
import { type QueryPath, type QueryState, useQuery } from './use-query.ts'

/** A list of which the first page is `answer`. */
export interface PagedList<Answer, Row> extends QueryState<Answer> {
  /** The rows of all pages after the first. */
  readonly furtherRows: readonly Row[]
  readonly hasMore: boolean
  /** Requests the next page, unless a request is in progress. */
  readonly loadMore: () => void
  /** Requests the next page, unless the last request failed. After a failure, only the button requests it. */
  readonly comeNear: () => void
  /** The error of the last page's request; null after a success. `loadMore` tries again. */
  readonly moreError: string | null
}

export interface ListOptions {
  /** True if further pages stay when the first one is loaded again. */
  readonly keepsPages?: boolean
  /** The most rows (default: no limit). */
  readonly most?: number
}

/** Requests a list page by page. `path` is that of the first page, and all pages are of its time. */
export function usePagedList<Answer extends { readonly next_cursor: string | null }, Row>(
  path: QueryPath,
  rowsOf: (answer: Answer) => readonly Row[],
  { keepsPages = false, most = Infinity }: ListOptions = {},
): PagedList<Answer, Row> {
  const query = useQuery<Answer>(path)
  const { answer, key, path: firstPath, isStale } = query
  const list = keepsPages ? key : answer
  const [loaded, setLoaded] = useState<Pages<Row>>(noPages)
  const pages = loaded.list === list ? loaded : { ...noPages, list }
  const second = isStale ? null : (answer?.next_cursor ?? null)
  const cursor = pages.rows.length > 0 ? pages.cursor : second
  const rowCount = (answer === null ? 0 : rowsOf(answer).length) + pages.rows.length
  const hasMore = second !== null && cursor !== null && rowCount < most

  const leaving = useRef<AbortController | null>(null)
  useEffect(
    () => () => {
      leaving.current?.abort()
      setLoaded(noPages)
    },
    [list],
  )
  const loadMore = useCallback(() => {
    if (!hasMore || pages.isLoading || cursor === null) return
    const { signal } = (leaving.current = new AbortController())
    setLoaded({ ...pages, isLoading: true, error: null })
    ask<Answer>(`${firstPath}&cursor=${encodeURIComponent(cursor)}`, signal).then(
      (next) => {
        const rows = [...pages.rows, ...rowsOf(next)]
        if (!signal.aborted) setLoaded({ ...noPages, list, rows, cursor: next.next_cursor })
      },
      (error: unknown) => {
        if (!signal.aborted) setLoaded({ ...pages, isLoading: false, error: reasonOf(error) })
      },
    )
  }, [hasMore, cursor, firstPath, pages])
  const comeNear = useCallback(() => {
    if (pages.error === null) loadMore()
  }, [pages.error, loadMore])
  return { ...query, furtherRows: pages.rows, hasMore, loadMore, comeNear, moreError: pages.error }
}

interface Pages<Row> {
  readonly list: unknown
  readonly rows: readonly Row[]
  /** The cursor of the next page; null if the last page is loaded. */
  readonly cursor: string | null
  readonly isLoading: boolean
  readonly error: string | null
}

const noPages: Pages<never> = { list: undefined, rows: [], cursor: null, isLoading: false, error: null }
