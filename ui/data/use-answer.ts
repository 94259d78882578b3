import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type AnswerReader, ask } from './dashboard-api.ts'
import { clockOffsetMs, nowMs } from './dashboard-clock.ts'
import { DashboardError, reasonOf } from './dashboard-error.ts'

/** What is known of an answer that is asked for again and again. */
export interface Answered<Answer, Question extends Asked = Asked> {
  /** The last good answer, also while the next one is awaited, and after one has failed. */
  readonly answer: Answer | null
  /** The question that `answer` is to. */
  readonly question: Question | null
  /** Of `answer`, by the dashboard's clock: milliseconds since the Unix epoch. */
  readonly answeredMs: number | null
  /** Why the last question came to nothing; null once one has been answered since. */
  readonly trouble: string | null
  /** The dashboard's error, where it has answered with one. */
  readonly error: DashboardError | null
  readonly isLoading: boolean
  /** Whether `answer` is to another question than the present one: the next answer is on its way. */
  readonly isStale: boolean
  /** Asks again at once. */
  readonly again: () => void
}

/** An answer that a change can be answered with, too. */
interface ChangingAnswer<Answer, Question extends Asked = Asked> extends Answered<Answer, Question> {
  /** Takes what a change was answered with for the answer. */
  readonly put: (answer: Answer) => void
}

/** A path, or what else is to be known with the answer beside it. */
export type Asked = string | { readonly path: string }

export interface AnswerOptions<Answer> {
  /** Milliseconds between an answer and the next question; once unless told. Nothing is asked while the tab is hidden. */
  readonly everyMs?: number | null
  /** Holds back what is asked by itself: while something is dragged, or a panel is read. */
  readonly isPaused?: boolean
  /** Makes an answer of what came; the same function for as long as the component is there. */
  readonly read?: AnswerReader<Answer>
}

/**
 * Asks the dashboard, keeps what it has until there is something newer, and asks again as time goes by.
 * `key` tells one question from another; `makeQuestion` makes it each time it is asked, as times move on.
 * Null asks nothing.
 */
export function useAnswer<Answer, Question extends Asked = Asked>(
  key: string | null,
  makeQuestion: () => Question,
  { everyMs = null, isPaused = false, read }: AnswerOptions<Answer> = {},
): ChangingAnswer<Answer, Question> {
  const [state, setState] = useState<State<Answer, Question>>(nothing)
  const [round, setRound] = useState(0)
  const present = useRef({ key, makeQuestion })
  present.current = { key, makeQuestion }
  const isSecond = useRef(false)
  const underWay = useRef<AbortController | null>(null)
  const again = useCallback(() => setRound((before) => before + 1), [])
  const put = useCallback((answer: Answer) => {
    // What is under way may tell how it was before the change.
    underWay.current?.abort()
    const { key } = present.current
    setState(({ question }) => ({ ...nothing, key, question, answer, answeredMs: nowMs() }))
  }, [])

  // Not after the paint: until then a question would only wait.
  useLayoutEffect(() => {
    if (key === null) return
    const leaving = new AbortController()
    underWay.current = leaving
    setState((before) => ({ ...before, isLoading: true }))
    const offsetMs = clockOffsetMs()
    /** Whether the question may have been about another time than was meant: once it is asked anew. */
    const isOfOtherTime = (): boolean => {
      const isOff = !isSecond.current && Math.abs(clockOffsetMs() - offsetMs) > clockSlackMs
      isSecond.current = isOff
      if (isOff) again()
      return isOff
    }
    const question = present.current.makeQuestion()
    const path = typeof question === 'string' ? question : question.path
    ask<Answer>(path, leaving.signal, read).then(
      (answer) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        setState({ ...nothing, key, question, answer, answeredMs: nowMs() })
      },
      (error: unknown) => {
        if (leaving.signal.aborted || isOfOtherTime()) return
        const told = error instanceof DashboardError ? error : null
        setState((before) => ({ ...before, trouble: reasonOf(error), error: told, isLoading: false }))
      },
    )
    return () => leaving.abort()
  }, [key, round])

  useEffect(() => {
    if (key === null || everyMs === null || isPaused || state.isLoading) return
    // The very first question is about to be asked: this is run before it is known to be under way.
    if (state.answeredMs === null && state.trouble === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const plan = (): void => {
      clearTimeout(timer)
      if (document.hidden) return
      const leftMs = everyMs - nowMs() + (state.answeredMs ?? 0)
      timer = setTimeout(again, state.trouble === null ? Math.min(everyMs, Math.max(0, leftMs)) : retryMs)
    }
    plan()
    document.addEventListener('visibilitychange', plan)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', plan)
    }
  }, [key, everyMs, isPaused, state, again])

  return { ...state, isStale: state.key !== key, again, put }
}

const retryMs = 5000
/** Of so little time a question may be off: the next one is not. */
const clockSlackMs = 60_000

interface State<Answer, Question extends Asked> extends Omit<
  Answered<Answer, Question>,
  'isStale' | 'again'
> {
  /** Of the question that `answer` is to. */
  readonly key: string | null
}

const nothing = {
  key: null,
  question: null,
  answer: null,
  answeredMs: null,
  trouble: null,
  error: null,
  isLoading: false,
}
