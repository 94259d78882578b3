import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CostMatches, Costs } from '../../src/api/costs.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { act } from '../data/dashboard-api.ts'
import { useTimes } from '../data/navigation.tsx'
import type { PageAddress, CompareBy } from '../data/page-address.ts'
import { refreshEveryMs, timeIn } from '../data/page-range.ts'
import { matchesPath } from '../data/free-calls.ts'
import { useAction } from '../data/use-action.ts'
import { type QueryPath, type QueryState, useQuery } from '../data/use-query.ts'
import type { CourseGroup, SpendAnswer, SpendGroup } from './spend-figures.ts'
import { boundsBefore, comparable, courseGroups, spendBounds, spendPath } from './spend-question.ts'

/** A request for spend; the last answer stays until the next one comes. */
type SpendQuery<Group> = QueryState<SpendAnswer<Group>>

/** Spend over time. */
export type SpendCourse = SpendQuery<CourseGroup>

/** Spend of each group, now and in the period before. */
export interface SpendParts {
  readonly by: CompareBy
  readonly now: SpendAnswer<SpendGroup>
  /** The figures of the period before; null while they load, or if those calls are rolled up. */
  readonly before: SpendAnswer<SpendGroup> | null
}

/** The spend of a range. `answer` is grouped by model, and the cards use it. */
export interface Spend extends SpendQuery<SpendGroup> {
  readonly parts: SpendParts | null
  /** The error of the request for `parts`; null without an error. */
  readonly partsError: string | null
  readonly course: SpendCourse
}

/** Requests spend by group, now and in the period before, and over time. */
export function useSpend(address: PageAddress, isPaused: boolean): Spend {
  const { zone } = useTimes()
  const { by } = address
  const options = { everyMs: refreshEveryMs(address.range), isPaused }
  const pathBy =
    (groupBy: string, of: (bounds: Bounds) => Bounds = (same) => same): QueryPath =>
    (nowMs) =>
      spendPath(address, of(spendBounds(address, nowMs)), groupBy, zone)
  const models = useQuery<SpendAnswer<SpendGroup>>(pathBy('model'), options)
  const others = useQuery<SpendAnswer<SpendGroup>>(by === 'model' ? null : pathBy(by), options)
  const before = useQuery<SpendAnswer<SpendGroup>>(pathBy(by, boundsBefore), options)
  const course = useQuery<SpendAnswer<CourseGroup>>((nowMs) => {
    const bounds = spendBounds(address, nowMs)
    return spendPath(address, bounds, courseGroups(bounds, by), zone)
  }, options)
  const now = by === 'model' ? models : others
  const latest = useRef<SpendParts | null>(null)
  const parts = useMemo(() => {
    if (now.answer === null || now.isStale) return latest.current
    const { answer, path, isStale } = before
    const past = isStale || path === null ? null : comparable(answer, timeIn(path, 0))
    return { by, now: now.answer, before: past }
  }, [now.answer, now.isStale, before.answer, before.isStale])
  latest.current = parts
  const all = by === 'model' ? [models, before, course] : [models, others, before, course]
  return {
    ...models,
    parts,
    partsError: refusalOf(now),
    course,
    isLoading: all.some(({ isLoading }) => isLoading),
    // A part that was never shown is not stale, and a failed part shows its error.
    isStale: isAwaited(models, models.answer) || isAwaited(now, parts) || isAwaited(course, course.answer),
    again: () => all.forEach(({ again }) => again()),
  }
}

/** Returns the error of the current request; null if its answer came. */
export function refusalOf({ error, isStale }: SpendQuery<unknown>): string | null {
  return isStale ? error : null
}

function isAwaited({ isStale, error }: SpendQuery<unknown>, shown: unknown): boolean {
  return isStale && error === null && shown !== null
}

const calmEveryMs = 60_000
const runningEveryMs = 700

/** The known prices, the prices of the range's calls, and the sync. */
export interface Prices {
  readonly costs: Costs | null
  readonly matches: CostMatches | null
  /** The error of either request for prices. */
  readonly error: string | null
  readonly isSyncing: boolean
  /** The error of the last press on Sync. */
  readonly syncError: string | null
  readonly sync: () => void
  /** The number of finished syncs and price changes on this page. After each, more calls may have a price. */
  readonly changes: number
  /** Called after a price was set or removed. */
  readonly onChanged: () => void
  readonly again: () => void
}

/** Returns the known prices and those of the range, loaded again at intervals and after changes. */
export function usePrices(address: PageAddress, isPaused: boolean): Prices {
  const { isBusy, error: syncError, run } = useAction()
  const [changes, setChanges] = useState(0)
  const finished = useRef<string | null | undefined>(undefined)
  const costs = useQuery<Costs>('/api/costs', {
    everyMs: (costs) => (costs?.sync.state === 'running' ? runningEveryMs : calmEveryMs),
  })
  const matches = useQuery<CostMatches>((nowMs) => matchesPath(spendBounds(address, nowMs)), {
    everyMs: refreshEveryMs(address.range),
    isPaused,
  })
  const again = (): void => {
    costs.again()
    matches.again()
  }
  const onChanged = (): void => {
    setChanges((before) => before + 1)
    again()
  }
  const sync = costs.answer?.sync
  const isRunning = sync?.state === 'running'
  useEffect(() => {
    if (sync === undefined || isRunning) return
    // The sync may have ended quickly, or have been started elsewhere.
    if (finished.current !== undefined && finished.current !== sync.finished_at) onChanged()
    finished.current = sync.finished_at
  }, [isRunning, sync?.finished_at])
  const begin = async (): Promise<void> => {
    await act('POST', '/api/costs/sync')
    costs.again()
  }
  // Matches of another range would be mistaken for matches of this one.
  const met = matches.isStale && matches.error !== null ? null : matches.answer
  return {
    costs: costs.answer,
    matches: met,
    error: costs.answer === null ? costs.error : met === null ? matches.error : null,
    isSyncing: isBusy || isRunning,
    syncError: syncError?.message ?? null,
    sync: () => {
      if (!isRunning) void run(begin)
    },
    changes,
    onChanged,
    again,
  }
}
