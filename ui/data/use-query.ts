import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type AnswerReader, ask } from './dashboard-api.ts'
import { clockOffsetMs, nowMs } from './dashboard-clock.ts'
import type { DashboardError } from './dashboard-error.ts'

/** The state of a request that may be repeated. */
export interface QueryState<Answer> {
  /** The last answer, which stays while the next one is awaited, and after an error. */
  readonly answer: Answer | null
  /** The path that was requested for `answer`, with its time. */
  readonly path: string | null
  /** Identifies the current request; null without one. */
  readonly key: string | null
  /** The time of `answer` by the dashboard's clock, in milliseconds since the Unix epoch. */
  readonly answeredMs: number | null
  /** The error of the last request; null after a success. */
  readonly error: string | null
  /** The dashboard's error, if it answered with one. */
  readonly failure: DashboardError | null
  readonly isLoading: boolean
  /** True if `answer` belongs to another key than the current one. */
  readonly isStale: boolean
  /** True if the last request failed, and no answer belongs to the current key. */
  readonly isRefused: boolean
  /** Sends the request again at once. */
  readonly again: () => void
}

/** A request whose answer can be replaced after a change. */
export interface QueryWithPut<Answer> extends QueryState<Answer> {
  readonly put: (answer: Answer) => void
}

/** The path of a request, or a function that returns it for the dashboard's time, because ranges move with the clock. */
export type QueryPath = string | ((nowMs: number) => string)

/**
 * The instant whose path identifies a request. All ranges have different starts: it is in the middle of a month, and
 * a second after noon, because midnight is a whole number of hours before noon in some zones.
 */
const keyMs = Date.UTC(2001, 0, 15, 12, 0, 1)

export interface QueryOptions<Answer> {
  /**
   * Milliseconds between an answer and the next request, or a function that returns them for the last answer
   * (default: no repetition). A hidden tab sends no request.
   */
  readonly everyMs?: number | null | ((answer: Answer | null) => number | null)
  /** True if repeated requests pause, for example while something is dragged. */
  readonly isPaused?: boolean
  /** Parses an answer. The function must stay the same while the component is rendered. */
  readonly read?: AnswerReader<Answer>
  /** Requests the answer again when it changes, because the path alone does not tell that the answer did. */
  readonly version?: string | number
}

/**
 * Requests an answer from the dashboard, keeps it until the next one comes, and repeats the request. A `path` of null
 * sends none. `put` replaces the answer after a change.
 */
export function useQuery<Answer>(
  path: QueryPath | null,
  { everyMs: interval = null, isPaused = false, read, version = '' }: QueryOptions<Answer> = {},
): QueryWithPut<Answer> {
  const [state, setState] = useState<State<Answer>>(nothing)
  const [round, setRound] = useState(0)
  const key = path === null ? null : `${pathAt(path, keyMs)} ${version}`
  const present = useRef({ key, path })
  present.current = { key, path }
  const isSecond = useRef(false)
  const pending = useRef<AbortController | null>(null)
  const again = useCallback(() => setRound((before) => before + 1), [])
  const put = useCallback((answer: Answer) => {
    // A pending answer may be from before the change.
    pending.current?.abort()
    const { key: answeredKey } = present.current
    setState(({ path }) => ({ ...nothing, answeredKey, path, answer, answeredMs: nowMs() }))
  }, [])

  // A layout effect sends the request before the paint.
  useLayoutEffect(() => {
    if (present.current.path === null) return
    const leaving = new AbortController()
    pending.current = leaving
    setState((before) => ({ ...before, isLoading: true }))
    const offsetMs = clockOffsetMs()
    /** Repeats the request once if the answer changed the dashboard's clock, because the range was then wrong. */
    const isOfOtherTime = (): boolean => {
      const isOff = !isSecond.current && Math.abs(clockOffsetMs() - offsetMs) > clockSlackMs
      isSecond.current = isOff
      if (isOff) again()
      return isOff
    }
    const path = pathAt(present.current.path, nowMs())
    ask<Answer>(path, leaving.signal, read).then(
      (answer) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        setState({ ...nothing, answeredKey: key, path, answer, answeredMs: nowMs() })
      },
      (failure: DashboardError) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        setState((before) => ({ ...before, error: failure.message, failure, isLoading: false }))
      },
    )
    return () => leaving.abort()
  }, [key, round])

  const everyMs = typeof interval === 'function' ? interval(state.answer) : interval
  useEffect(() => {
    if (key === null || everyMs === null || isPaused || state.isLoading) return
    // The first request is about to start, although the state does not show it yet.
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

  const isStale = state.answeredKey !== key
  const isRefused = state.error !== null && !state.isLoading && (state.answer === null || isStale)
  return { ...state, key, isStale, isRefused, again, put }
}

const retryMs = 5000
/** A clock that differs by less (ms) needs no repetition. */
const clockSlackMs = 60_000

function pathAt(path: QueryPath, ms: number): string {
  return typeof path === 'string' ? path : path(ms)
}

interface State<Answer> extends Omit<QueryState<Answer>, 'key' | 'isStale' | 'isRefused' | 'again'> {
  /** The key of the request that `answer` belongs to. */
  readonly answeredKey: string | null
}

const nothing = {
  answeredKey: null,
  path: null,
  answer: null,
  answeredMs: null,
  error: null,
  failure: null,
  isLoading: false,
}
