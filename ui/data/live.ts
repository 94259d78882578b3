import { useEffect } from 'preact/hooks'
import type { ActiveAlert, AlertSetting } from '../../src/api/alerts.ts'
import type { NewCalls } from '../../src/api/dashboard-event.ts'
import type { RepriceJob, DatabaseJob } from '../../src/api/database-job.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { nowMs } from './dashboard-clock.ts'
import { followEvents } from './event-stream.ts'
import { emptyLog, withLines } from './log-tail.ts'
import { Observable, useObservable } from './observable.ts'

/** The latest state from the dashboard. */
export interface Live {
  /** The newest status; null before the first one. */
  readonly status: ProcessStatus | null
  /** The last job on the database; null without a job since the dashboard's start. */
  readonly job: DatabaseJob | null
  /** The last recalculation of costs; null without one since the dashboard's start. */
  readonly repricing: RepriceJob | null
  readonly alerts: readonly ActiveAlert[]
  /** The settings of the alert rules by code; empty before they arrive. */
  readonly alertRules: Readonly<Record<string, AlertSetting>>
  /** The time since when the dashboard is unreachable (ms since the Unix epoch); null while it answers. */
  readonly lostSinceMs: number | null
}

const live = new Observable<Live>({
  status: null,
  job: null,
  repricing: null,
  alerts: [],
  alertRules: {},
  lostSinceMs: null,
})
const newCalls = new Observable<NewCalls>({ calls: [], skipped: 0 })

/** The gateway's log, shared by all views, because the stream sends each line once. */
export const log = new Observable(emptyLog)

function change(part: Partial<Live>): void {
  live.set({ ...live.current, ...part })
}

/** Sets the status from the answer of an action, before the stream sends it. */
export function setStatus(status: ProcessStatus): void {
  change({ status })
}

/** The topics of every page. Payloads have a separate stream, because few pages show them. */
const topics = ['gateway', 'calls', 'jobs', 'log', 'alerts', 'alert_rules'] as const

/** Listens to the dashboard's events as long as the page is open. */
export function followDashboard(): void {
  let opened = 0
  followEvents(topics, {
    onEvent: ([topic, data]) => {
      if (topic === 'gateway') setStatus(data)
      else if (topic === 'jobs') change({ job: data.compress, repricing: data.reprice ?? null })
      else if (topic === 'alerts') change({ alerts: data })
      else if (topic === 'alert_rules') change({ alertRules: data })
      else if (topic === 'log') log.set(withLines(log.current, data))
      else if (topic === 'calls') newCalls.set(data)
    },
    onReach: (isReached) => {
      change({ lostSinceMs: isReached ? null : (live.current.lostSinceMs ?? nowMs()) })
      // Calls that were recorded while there was no stream came with no event.
      if (isReached && opened++ > 0) newCalls.set({ calls: [], skipped: 1 })
    },
  })
}

/**
 * Returns a part of the live state: `useLive(({ status }) => status?.port)`. The component renders again only when
 * that part changes.
 */
export function useLive<Part>(choose: (live: Live) => Part): Part {
  return useObservable(live, choose, isSame)
}

/** Calls back with newly recorded calls while the component is rendered. */
export function useRecordedCalls(listener: (calls: NewCalls) => void, inputs: readonly unknown[]): void {
  useEffect(() => newCalls.watch(listener), inputs)
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b)
}
