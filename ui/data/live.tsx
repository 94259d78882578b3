import { createContext, type ComponentChildren, type JSX } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import type { RepriceJob } from '../../src/api/costs.ts'
import type { DatabaseJob } from '../../src/api/database-job.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { DashboardEvents } from './dashboard-events.ts'
import { LogTail } from './log-tail.ts'

/** What is known without asking. */
export interface Live {
  readonly events: DashboardEvents
  /** Null until the first one has come. */
  readonly status: ProcessStatus | null
  /** When it came, on the page's clock: milliseconds since the Unix epoch. */
  readonly statusMs: number
  /** The last job on the database; null where none was begun on this dashboard. */
  readonly job: DatabaseJob | null
  /** The last re-pricing of calls; null where none was begun on this dashboard. */
  readonly repricing: RepriceJob | null
  /** Kept for all views: the stream tells each line once. */
  readonly log: LogTail
  /** Since when the dashboard has not been reached; null while it is. */
  readonly lostSinceMs: number | null
  /** Takes over a status that an action has answered, before the stream tells of it. */
  readonly setStatus: (status: ProcessStatus) => void
}

const LiveContext = createContext<Live | null>(null)

export interface LiveProviderProps {
  readonly events: DashboardEvents
  readonly children: ComponentChildren
}

/** Gives what is inside the gateway's status as it changes. */
export function LiveProvider({ events, children }: LiveProviderProps): JSX.Element {
  const [[status, statusMs], setStatus] = useState<readonly [ProcessStatus | null, number]>([null, 0])
  const [job, setJob] = useState<DatabaseJob | null>(null)
  const [repricing, setRepricing] = useState<RepriceJob | null>(null)
  const log = useMemo(() => new LogTail(), [])
  const [lostSinceMs, setLostSinceMs] = useState<number | null>(null)
  useEffect(() => {
    const leave = [
      events.on('gateway', (status) => setStatus([status, Date.now()])),
      events.on('jobs', ({ compress, reprice = null }) => {
        setJob(compress)
        setRepricing(reprice)
      }),
      events.on('log', (lines) => log.add(lines)),
      events.onReach((isReached) => setLostSinceMs((before) => (isReached ? null : (before ?? Date.now())))),
    ]
    // Not before somebody listens: what is known already comes at once.
    events.follow()
    return () => leave.forEach((one) => one())
  }, [events, log])
  const live = useMemo(
    () => ({
      events,
      status,
      statusMs,
      job,
      repricing,
      log,
      lostSinceMs,
      setStatus: (status: ProcessStatus) => setStatus([status, Date.now()]),
    }),
    [events, status, statusMs, job, repricing, log, lostSinceMs],
  )
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** What is known without asking. */
export function useLive(): Live {
  const live = useContext(LiveContext)
  if (live === null) throw new Error('useLive is for what is inside LiveProvider')
  return live
}

/** Calls back with what comes of a topic, as long as the component is there. */
export function useEvent<Topic extends EventTopic>(
  topic: Topic,
  listener: (data: EventData[Topic]) => void,
  inputs: readonly unknown[],
): void {
  const { events } = useLive()
  useEffect(() => events.on(topic, listener), [events, topic, ...inputs])
}
