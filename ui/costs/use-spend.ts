import { useMemo, useRef } from 'preact/hooks'
import { type PageAddress, type SpendBy, questionKey } from '../data/page-address.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type Answered, useAnswer } from '../data/use-answer.ts'
import { refreshEveryMs } from '../filters/refresh-every.ts'
import type { Times } from '../format/times.ts'
import type { CourseGroup, SpendAnswer, SpendGroup } from './spend-figures.ts'
import { boundsBefore, comparable, courseGroups, spendBounds, spendPath } from './spend-question.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** Spend on each model, or each client, and on the same before. */
export interface SpendParts {
  readonly by: SpendBy
  readonly now: SpendAnswer<SpendGroup>
  /** Null while it is not there, or if it is not kept any more. */
  readonly before: SpendAnswer<SpendGroup> | null
}

/** Spend over time. */
export interface SpendCourse {
  readonly by: SpendBy
  readonly utc: boolean
  readonly bounds: Bounds
  readonly answer: SpendAnswer<CourseGroup>
}

/** Spend as far as it is known. An answer to an earlier question stays until a newer one comes. */
export interface Spend {
  /** By model: the first figures are made of it. */
  readonly models: SpendAnswer<SpendGroup> | null
  readonly parts: SpendParts | null
  /** Why there are none: calls of that time were folded, for example. */
  readonly partsTrouble: string | null
  readonly course: SpendCourse | null
  readonly courseTrouble: string | null
  readonly answeredMs: number | null
  readonly trouble: string | null
  readonly isLoading: boolean
  readonly isStale: boolean
  readonly again: () => void
}

/** Asks for the spend by model or client, now and before, and over time. */
export function useSpend(address: PageAddress, times: Times, isPaused: boolean): Spend {
  const key = questionKey(address, address.utc)
  const { by, utc } = address
  const options = { everyMs: refreshEveryMs(address.range), isPaused }
  const bounds = (): Bounds => spendBounds(address, nowMs())
  const useSpendOf = <Group>(
    name: string | null,
    groupBy: () => string,
    of: (bounds: Bounds) => Bounds = (same) => same,
  ): Answered<SpendAnswer<Group>> =>
    useAnswer<SpendAnswer<Group>>(
      name === null ? null : `${name} ${key}`,
      () => spendPath(address, of(bounds()), groupBy(), times.zone),
      options,
    )
  const models = useSpendOf<SpendGroup>('model', () => 'model')
  const others = useSpendOf<SpendGroup>(by === 'model' ? null : by, () => by)
  const before = useSpendOf<SpendGroup>(`before ${by}`, () => by, boundsBefore)
  const course = useSpendOf<CourseGroup>(`course ${by}`, () => courseGroups(bounds(), by))
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
      // As it was asked for: the answer took some time.
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
    // A part that was never shown is not stale, and one whose question failed says so itself.
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

/** Why the present question failed. */
function refusalOf({ trouble, isStale }: Answered<unknown>): string | null {
  return isStale ? trouble : null
}

/** The last value that was not null. */
function useLatest<Value>(value: Value | null): Value | null {
  const latest = useRef(value)
  if (value !== null) latest.current = value
  return latest.current
}
