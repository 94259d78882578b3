import { useMemo, useRef } from 'preact/hooks'
import type { PageAddress, SpendBy } from '../data/page-address.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type Answered, useAnswer } from '../data/use-answer.ts'
import { refreshEveryMs } from '../filters/refresh-every.ts'
import type { Times } from '../format/times.ts'
import type { CourseGroup, SpendAnswer, SpendGroup } from './spend-figures.ts'
import { boundsBefore, comparable, courseGroups, spendBounds, spendKey, spendPath } from './spend-question.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** What went to each model, or each client, and to the same before. */
export interface SpendParts {
  readonly by: SpendBy
  readonly now: SpendAnswer<SpendGroup>
  /** Null where it is not there yet, or not told any more. */
  readonly before: SpendAnswer<SpendGroup> | null
}

/** What was spent over time. */
export interface SpendCourse {
  readonly by: SpendBy
  readonly utc: boolean
  readonly bounds: Bounds
  readonly answer: SpendAnswer<CourseGroup>
}

/** What was spent, as far as it is known by now. What is to another question stays until there is something newer. */
export interface Spend {
  /** By model: the figures above all are made of it. */
  readonly models: SpendAnswer<SpendGroup> | null
  readonly parts: SpendParts | null
  /** Why there are none: calls of that time were folded, … */
  readonly partsTrouble: string | null
  readonly course: SpendCourse | null
  readonly courseTrouble: string | null
  readonly answeredMs: number | null
  readonly trouble: string | null
  readonly isLoading: boolean
  readonly isStale: boolean
  readonly again: () => void
}

/** Asks what was spent, by model or client, now and before, and over time. */
export function useSpend(address: PageAddress, times: Times, isPaused: boolean): Spend {
  const key = spendKey(address)
  const { by, utc } = address
  const options = { everyMs: refreshEveryMs(address.range), isPaused }
  const bounds = (): Bounds => spendBounds(address, nowMs())
  const path = (groupBy: string, of: Bounds = bounds()): string => spendPath(address, of, groupBy, times.zone)
  const models = useAnswer<SpendAnswer<SpendGroup>>(`model ${key}`, () => path('model'), options)
  const others = useAnswer<SpendAnswer<SpendGroup>>(
    by === 'model' ? null : `${by} ${key}`,
    () => path(by),
    options,
  )
  const before = useAnswer<SpendAnswer<SpendGroup>>(
    `before ${by} ${key}`,
    () => path(by, boundsBefore(bounds())),
    options,
  )
  const course = useAnswer<SpendAnswer<CourseGroup>>(
    `course ${by} ${key}`,
    () => path(courseGroups(bounds(), by)),
    options,
  )
  const now = by === 'model' ? models : others
  const past = boundsBefore(spendBounds(address, (before.answeredMs ?? 0) - 1))
  const parts = useLatest(
    useMemo(() => {
      const answer = currentOf(now)
      return answer === null ? null : { by, now: answer, before: comparable(currentOf(before), past) }
    }, [now.answer, now.isStale, before.answer, before.isStale]),
  )
  const courseNow = useLatest(
    useMemo(() => {
      const answer = currentOf(course)
      // Of when it was asked for: what was answered took some of the time since.
      return answer === null
        ? null
        : { by, utc, answer, bounds: spendBounds(address, (course.answeredMs ?? 0) - 1) }
    }, [course.answer, course.isStale]),
  )
  const all: readonly Answered<unknown>[] =
    by === 'model' ? [models, before, course] : [models, others, before, course]
  return {
    models: models.answer,
    parts,
    partsTrouble: refusalOf(now),
    course: courseNow,
    courseTrouble: refusalOf(course),
    answeredMs: models.answeredMs,
    trouble: models.trouble,
    isLoading: all.some(({ isLoading }) => isLoading),
    // What was never there before is not old, and what has no answer says so itself.
    isStale: (
      [
        [models, models.answer],
        [now, parts],
        [course, courseNow],
      ] as const
    ).some(([{ isStale, trouble }, shown]) => isStale && trouble === null && shown !== null),
    again: () => all.forEach(({ again }) => again()),
  }
}

function currentOf<Answer>({ answer, isStale }: Answered<Answer>): Answer | null {
  return isStale ? null : answer
}

/** Why the present question has no answer. */
function refusalOf({ trouble, isStale }: Answered<unknown>): string | null {
  return isStale ? trouble : null
}

/** The last one that there was. */
function useLatest<Value>(value: Value | null): Value | null {
  const latest = useRef(value)
  if (value !== null) latest.current = value
  return latest.current
}
