import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { isFiltered } from '../data/page-address.ts'
import { TimeChart } from '../charts/time-chart.tsx'
import { useLive } from '../data/live.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import type { Overview } from '../../src/api/overview.ts'
import { perBucket } from './overview-time.ts'
import { slotParts } from './slot-charts.ts'

export interface SlotsCardProps {
  readonly answer: Overview
  readonly frame: TimeFrame
}

/** How full the gateway was, and how long calls waited for a slot because of it. */
export function SlotsCard({ answer, frame }: SlotsCardProps): JSX.Element {
  const { address } = useNavigation()
  const limitNow = useLive(({ status }) => status?.health?.rate_limiter.max_concurrent ?? null)
  const parts = useMemo(() => slotParts(answer, frame, limitNow), [answer, frame, limitNow])
  return (
    <TimeChart
      title="Slots and queue"
      about={
        isFiltered(address)
          ? 'slots and queue of all calls, wait of those chosen'
          : `busiest moment of each ${perBucket(answer.bucket_s)}`
      }
      parts={parts}
      to={({ fromMs, toMs }) => ({ view: 'calls', range: { last: null, fromMs, toMs }, sort: 'started_at' })}
      empty="Nothing is known of this time"
    />
  )
}
