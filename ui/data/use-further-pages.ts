import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { reasonOf } from './dashboard-error.ts'

/** A page that follows others, and the cursor of the one after it; null if it is the last. */
export interface FurtherPage<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | null
}

/** The further pages of a list. */
export interface FurtherPages<Row> {
  /** Rows of all pages after the first. */
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  /** Asks for the next page, unless it is on its way. */
  readonly loadMore: () => void
  /** Why the next page did not come; asked for again by `loadMore`. */
  readonly error: string | null
}

/** The first page of a list, and the cursor of the next. */
export interface FirstPage {
  /** The key of the list; further pages are dropped when it changes. */
  readonly list: unknown
  /** Cursor of the second page; null if there is none, or the first has not arrived. */
  readonly cursor: string | null
  /** Most rows of further pages (default: no limit). */
  readonly most?: number
}

/** The pages of a list after its first, asked for as its reader comes to its end. */
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
