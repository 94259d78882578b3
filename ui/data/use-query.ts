import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type AnswerReader, ask } from './dashboard-api.ts'
import { clockOffsetMs, nowMs } from './dashboard-clock.ts'
import { DashboardError, reasonOf } from './dashboard-error.ts'

/** The state of a query that is repeated. */
export interface QueryState<Answer, Query extends AnyQuery = AnyQuery> {
  /** The last good answer, also while the next one is awaited, and after one has failed. */
  readonly answer: Answer | null
  /** The query that `answer` is to. */
  readonly question: Query | null
  /** When `answer` came, by the dashboard's clock: milliseconds since the Unix epoch. */
  readonly answeredMs: number | null
  /** Why the last query failed; null once one has succeeded since. */
  readonly error: string | null
  /** The dashboard's error, if it answered with one. */
  readonly failure: DashboardError | null
  readonly isLoading: boolean
  /** True if `answer` is to another query than the present one, whose answer is on its way. */
  readonly isStale: boolean
  /** True if the last query failed, and a shown answer is to another one. */
  readonly isRefused: boolean
  /** Asks again at once. */
  readonly again: () => void
}

/** A query whose answer a change may replace. */
export interface QueryWithPut<Answer, Query extends AnyQuery = AnyQuery> extends QueryState<Answer, Query> {
  readonly put: (answer: Answer) => void
}

/** A path, or an object with a path and what else belongs to the answer. */
type AnyQuery = string | { readonly path: string }

/** The options of {@link useQuery}. */
export interface QueryOptions<Answer> {
  /** Milliseconds between an answer and the next query (default: asked once). A hidden tab asks nothing. */
  readonly everyMs?: number | null
  /** Pauses repeated queries: while something is dragged, or a panel is read. */
  readonly isPaused?: boolean
  /** Parses an answer; must be the same function for as long as the component lives. */
  readonly read?: AnswerReader<Answer>
}

/**
 * Asks the dashboard, keeps the last answer until a newer one comes, and asks again from time to time. `key` identifies
 * the query, null asks nothing; `makeQuery` makes it again each time, because ranges move with the clock. `put` replaces
 * the answer by one that a change brought.
 */
export function useQuery<Answer, Query extends AnyQuery = AnyQuery>(
  key: string | null,
  makeQuery: () => Query,
  { everyMs = null, isPaused = false, read }: QueryOptions<Answer> = {},
): QueryWithPut<Answer, Query> {
  const [state, setState] = useState<State<Answer, Query>>(nothing)
  const [round, setRound] = useState(0)
  const present = useRef({ key, makeQuery })
  present.current = { key, makeQuery }
  const isSecond = useRef(false)
  const pending = useRef<AbortController | null>(null)
  const again = useCallback(() => setRound((before) => before + 1), [])
  const put = useCallback((answer: Answer) => {
    // A pending answer may be from before the change.
    pending.current?.abort()
    const { key } = present.current
    setState(({ question }) => ({ ...nothing, key, question, answer, answeredMs: nowMs() }))
  }, [])

  // A layout effect asks before the paint.
  useLayoutEffect(() => {
    if (key === null) return
    const leaving = new AbortController()
    pending.current = leaving
    setState((before) => ({ ...before, isLoading: true }))
    const offsetMs = clockOffsetMs()
    /** Asks once more if the dashboard's clock turned out to differ: the range was wrong. */
    const isOfOtherTime = (): boolean => {
      const isOff = !isSecond.current && Math.abs(clockOffsetMs() - offsetMs) > clockSlackMs
      isSecond.current = isOff
      if (isOff) again()
      return isOff
    }
    const question = present.current.makeQuery()
    const path = typeof question === 'string' ? question : question.path
    ask<Answer>(path, leaving.signal, read).then(
      (answer) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        setState({ ...nothing, key, question, answer, answeredMs: nowMs() })
      },
      (error: unknown) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        const cause = error instanceof DashboardError ? error : null
        setState((before) => ({ ...before, error: reasonOf(error), failure: cause, isLoading: false }))
      },
    )
    return () => leaving.abort()
  }, [key, round])

  useEffect(() => {
    if (key === null || everyMs === null || isPaused || state.isLoading) return
    // The first query is about to start; the state does not say so yet.
    if (state.answeredMs === null && state.error === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const plan = (): void => {
      clearTimeout(timer)
      if (document.hidden) return
      const leftMs = everyMs - nowMs() + (state.answeredMs ?? 0)
      timer = setTimeout(again, state.error === null ? Math.min(everyMs, Math.max(0, leftMs)) : retryMs)
    }
    plan()
    document.addEventListener('visibilitychange', plan)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', plan)
    }
  }, [key, everyMs, isPaused, state, again])

  const isStale = state.key !== key
  const isRefused = state.error !== null && !state.isLoading && (state.answer === null || isStale)
  return { ...state, isStale, isRefused, again, put }
}

const retryMs = 5000
/** A range that is off by less is not asked for again. */
const clockSlackMs = 60_000

interface State<Answer, Query extends AnyQuery> extends Omit<
  QueryState<Answer, Query>,
  'isStale' | 'isRefused' | 'again'
> {
  /** Identifies the query that `answer` is to. */
  readonly key: string | null
}

const nothing = {
  key: null,
  question: null,
  answer: null,
  answeredMs: null,
  error: null,
  failure: null,
  isLoading: false,
}
