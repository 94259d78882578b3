import { useMemo } from 'preact/hooks'
import { type ChartPanel, bars } from '../charts/chart-series.ts'
import { type BucketRange, sumOver } from '../charts/time-frame.ts'
import { PanelPlot } from '../charts/time-chart.tsx'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type QueryState, useQuery } from '../data/use-query.ts'
import { count, counted } from '../format/figures.ts'
import { type CallVolume, type VolumeGroup, callVolume, volumePath } from './call-volume.ts'

type VolumeQuery = QueryState<{ readonly groups?: readonly VolumeGroup[] }>

/** Requests the numbers of calls and failed calls over time. */
export function useCallVolume(): VolumeQuery {
  const { address } = useNavigation()
  const { zone } = useTimes()
  return useQuery((nowMs) => volumePath(address, nowMs, zone))
}

const heightPx = 56

/** The number of calls and failed calls over time. Dragging over a span selects it as the range. */
export function VolumeStrip({ query }: { readonly query: VolumeQuery }) {
  const { address } = useNavigation()
  const { zone } = useTimes()
  const { answer, path, answeredMs, error, isStale, isRefused } = query
  const volume = useMemo((): CallVolume => {
    if (isRefused) return callVolume(volumePath(address, nowMs(), zone), nowMs(), [])
    return path === null ? nothing : callVolume(path, answeredMs ?? 0, answer?.groups ?? [])
  }, [answer, isRefused])
  const { frame, stepWords, calls, errors } = volume
  const panel = useMemo((): ChartPanel => {
    const succeeded = calls.map((n, index) => (isRefused ? null : n - (errors[index] ?? 0)))
    return {
      frame,
      heightPx,
      linear: { leastTop: 1, isInteger: true, maxTicks: 1 },
      axis: () => '',
      series: [
        { ...bars('failed', 'Failed', 'bad', isRefused ? [] : errors, count, ['ok']), isSum: true },
        { ...bars('ok', 'Succeeded', 'p50', succeeded, count), isSum: true },
      ],
    }
  }, [volume])
  const [mostCalls, mostErrors] = [Math.max(0, ...calls), Math.max(0, ...errors)]
  return (
    <div class="volume" aria-busy={isStale && error === null}>
      <div class="volume-head row wraps finest">
        <h2>Calls per {stepWords}</h2>
        {mostCalls > 0 && (
          <span class="volume-key colour-key" style={{ '--part': 'var(--p50)' }}>
            All, peak {count(mostCalls)}
          </span>
        )}
        {mostErrors > 0 && (
          <span class="volume-key colour-key" style={{ '--part': 'var(--bad)' }}>
            Failed, peak {count(mostErrors)}
          </span>
        )}
        <span class="at-end">{mostCalls > 0 && 'Drag to zoom'}</span>
      </div>
      <PanelPlot
        panel={panel}
        isLog={false}
        shown={panel.series}
        label="Calls over time. Press Enter to zoom."
        hasTimes
        to={(bounds) => ({ range: { last: null, ...bounds } })}
        count={(buckets: BucketRange) =>
          counted(
            sumOver(buckets, (index) => calls[index] ?? 0),
            'call',
          )
        }
        empty={isRefused ? 'Not available for this range' : ''}
      />
    </div>
  )
}

const nothing: CallVolume = {
  frame: { fromMs: 0, toMs: 1, startsMs: [], bucketMs: 1 },
  stepWords: 'hour',
  calls: [],
  errors: [],
}
