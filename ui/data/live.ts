import { useEffect } from 'preact/hooks'
import type { ActiveAlert, AlertSetting } from '../../src/api/alerts.ts'
import type { NewCalls } from '../../src/api/dashboard-event.ts'
import type { RepriceJob, DatabaseJob } from '../../src/api/database-job.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { nowMs } from './dashboard-clock.ts'
import { followEvents } from './event-stream.ts'
import { emptyLog, withLines } from './log-tail.ts'
import { Observable, useObservable } from './observable.ts'

/** The latest state that the dashboard has sent. */
export interface Live {
  /** The newest status; null until the first one has come. */
  readonly status: ProcessStatus | null
  /** The last job on the database; null if none was begun on this dashboard. */
  readonly job: DatabaseJob | null
  /** The last re-pricing of calls; null if none was begun on this dashboard. */
  readonly repricing: RepriceJob | null
  /** The active alerts. */
  readonly alerts: readonly ActiveAlert[]
  /** The settings of the alert rules by their codes; none until they have come. */
  readonly alertRules: Readonly<Record<string, AlertSetting>>
  /** Since when the dashboard has not been reached; null while it is. */
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

/** Payloads have a stream of their own: few pages show them. */
const topics = ['gateway', 'calls', 'jobs', 'log', 'alerts', 'alert_rules'] as const

/** Begins to listen to the dashboard, for as long as the page is open. */
export function followDashboard(): void {
  followEvents(topics, {
    onEvent: ([topic, data]) => {
      if (topic === 'gateway') setStatus(data)
      else if (topic === 'jobs') change({ job: data.compress, repricing: data.reprice ?? null })
      else if (topic === 'alerts') change({ alerts: data })
      else if (topic === 'alert_rules') change({ alertRules: data })
      else if (topic === 'log') log.set(withLines(log.current, data))
      else if (topic === 'calls') newCalls.set(data)
    },
    onReach: (isReached) => change({ lostSinceMs: isReached ? null : (live.current.lostSinceMs ?? nowMs()) }),
  })
}

/**
 * A part of the live state: `useLive(({ status }) => status?.port)`. The component renders again only
 * when the value of that part changes.
 */
export function useLive<Part>(choose: (live: Live) => Part): Part {
  return useObservable(live, choose, isSame)
}

/** Calls back with calls that were just recorded, as long as the component is there. */
export function useRecordedCalls(listener: (calls: NewCalls) => void, inputs: readonly unknown[]): void {
  useEffect(() => newCalls.watch(listener), inputs)
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b)
}
