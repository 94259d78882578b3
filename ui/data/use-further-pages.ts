import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { reasonOf } from './dashboard-error.ts'

/** A further page, and the cursor of the next page; null if the page is the last. */
export interface FurtherPage<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | null
}

/** The further pages of a list. */
export interface FurtherPages<Row> {
  /** The rows of all pages after the first. */
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  /** Requests the next page, unless a request is in progress. */
  readonly loadMore: () => void
  /** The error of the last request; null after a success. `loadMore` tries again. */
  readonly error: string | null
}

/** The first page of a list, and the cursor of the second. */
export interface FirstPage {
  /** The key of the list. When the key changes, further pages are dropped. */
  readonly list: unknown
  /** The cursor of the second page; null if there is none, or the first page has not arrived. */
  readonly cursor: string | null
  /** The most rows of further pages (default: no limit). */
  readonly most?: number
}

/** Loads the pages of a list after the first, each with a cursor. */
export function useFurtherPages<Row>(
  { list, cursor: second, most = Infinity }: FirstPage,
  load: (cursor: string, signal: AbortSignal) => Promise<FurtherPage<Row>>,
): FurtherPages<Row> {
  const [loaded, setLoaded] = useState<Pages<Row>>(noPages)
  const pages = loaded.list === list ? loaded : { ...noPages, list }
  const cursor = pages.rows.length > 0 ? pages.cursor : second
  const hasMore = second !== null && cursor !== null && pages.rows.length < most

  const leaving = useRef<AbortController | null>(null)
  useEffect(
    () => () => {
      leaving.current?.abort()
      setLoaded(noPages)
    },
    [list],
  )
  const loadMore = useCallback(() => {
    if (!hasMore || pages.isLoading) return
    const { signal } = (leaving.current = new AbortController())
    setLoaded({ ...pages, isLoading: true, error: null })
    load(cursor, signal).then(
      (next) => {
        if (!signal.aborted)
          setLoaded({ ...noPages, list, rows: [...pages.rows, ...next.rows], cursor: next.cursor })
      },
      (error: unknown) => {
        if (!signal.aborted) setLoaded({ ...pages, isLoading: false, error: reasonOf(error) })
      },
    )
  }, [hasMore, cursor, load, pages])
  return { rows: pages.rows, hasMore, loadMore, error: pages.error }
}

interface Pages<Row> extends FurtherPage<Row> {
  readonly list: unknown
  readonly isLoading: boolean
  readonly error: string | null
}

const noPages: Pages<never> = { list: undefined, rows: [], cursor: null, isLoading: false, error: null }
