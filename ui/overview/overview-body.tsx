import { useMemo } from 'preact/hooks'
import { useLive } from '../data/live.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { FreeCalls } from '../data/free-calls.ts'
import { type PageAddress, isFiltered } from '../data/page-address.ts'
import { HeatMap } from '../charts/heat-map.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import type { ChartPanel } from '../charts/chart-series.ts'
import { TimeChart } from '../charts/time-chart.tsx'
import { type Bounds, type BucketRange, type TimeFrame, sumOver } from '../charts/time-frame.ts'
import { FigureCards } from '../design/figure-cards.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { Banner } from '../design/banner.tsx'
import { Popover } from '../design/overlay/popover.tsx'
import { counted } from '../format/figures.ts'
import { CallsCard, type CallsCardProps } from './calls-card.tsx'
import { FailuresCard, ModelsCard } from './ranking-cards.tsx'
import type { Overview, OverviewMeasure } from '../../src/api/overview.ts'
import { earlierCalls, withEarlier } from './earlier.ts'
import { type OverviewCard, type AlertRules, overviewCards } from './overview-cards.ts'
import { errorPanel, firstTokenPanel, latencyPanel, requestPanel, speedPanel } from './overview-charts.ts'
import { timedCalls, timedWords } from './overview-question.ts'
import { frameOf, perBucket } from './overview-time.ts'
import { slotPanels } from './slot-charts.ts'

const SlotWaitsPanel = lazyPart(async () => (await import('./slot-waits.tsx')).SlotWaitsPanel)

export interface OverviewBodyProps extends CallsCardProps {
  /** The period to compare with; null for none. */
  readonly earlier: Overview | null
  /** The rules of the alerts; empty until they are known. */
  readonly rules: AlertRules
  /** The unpriced calls that nobody bills; null until they are known. */
  readonly free: FreeCalls | null
}

/** All figures of an answer. */
export function OverviewBody({ earlier, rules, free, ...props }: OverviewBodyProps) {
  const { answer } = props
  const frame = useMemo(() => frameOf(answer), [answer])
  const cards = useMemo(() => overviewCards(answer, rules, free?.calls ?? null), [answer, rules, free])
  const charts = useMemo(() => chartsOf(answer, frame, earlier), [answer, frame, earlier])
  const { buckets, heat, totals } = answer
  const timed = timedCalls(answer)
  const aboutTimed = timedWords(answer)
  const inCalls = ({ fromMs, toMs }: Bounds, filters: Partial<PageAddress>): Partial<PageAddress> => ({
    view: 'calls',
    range: { last: null, fromMs, toMs },
    sort: 'started_at',
    ...filters,
  })
  const calls =
    (counts: readonly number[]): ((buckets: BucketRange) => string) =>
    (buckets) =>
      counted(
        sumOver(buckets, (index) => counts[index] ?? 0),
        'call',
      )
  return (
    <>
      {answer.resolution !== undefined && (
        <Banner>Older calls in this range are kept as totals only, so lists leave them out.</Banner>
      )}
      <FigureCards class="overview-cards" cards={cards} foot={courseOf} />
      <div class="overview-pair">
        <TimeChart
          title="Requests"
          about={`per ${perBucket(answer.bucket_s)}`}
          panels={[charts.requests]}
          to={(bounds) => inCalls(bounds, {})}
          empty="No calls"
        />
        <TimeChart
          title="Error rate"
          about="without calls whose client left"
          panels={[charts.errors]}
          to={(bounds) => inCalls(bounds, { errorsOnly: true })}
          count={calls(buckets.errors)}
          explainsEvents={false}
          empty="No calls"
        />
      </div>
      <div class="overview-pair">
        <TimeChart
          title="Latency"
          about={aboutTimed}
          panels={[charts.latency]}
          to={(bounds) => inCalls(bounds, { ...timed, sort: 'duration' })}
          count={calls(buckets.duration_n)}
          empty={emptyWords(totals.duration_ms, aboutTimed)}
        />
        <HeatMap
          about={aboutTimed}
          frame={frame}
          heat={heat}
          to={(bounds, minMs, maxMs) => inCalls(bounds, { ...timed, sort: 'duration', minMs, maxMs })}
          empty={`No ${aboutTimed}`}
        />
      </div>
      <div class="overview-pair">
        <TimeChart
          title="Time to first token"
          about="streamed"
          panels={[charts.firstToken]}
          to={(bounds) => inCalls(bounds, { ...timed, sort: 'ttft' })}
          count={calls(buckets.ttft_n)}
          explainsEvents={false}
          empty={emptyWords(totals.ttft_ms, 'streamed calls')}
        />
        <TimeChart
          title="Output speed"
          about="tokens per second"
          panels={[charts.speed]}
          to={(bounds) => inCalls(bounds, timed)}
          count={calls(buckets.speed_n)}
          explainsEvents={false}
          empty={emptyWords(totals.output_tokens_per_s, 'calls with a known speed')}
        />
      </div>
      <SlotsCard answer={answer} frame={frame} />
      <div class="overview-pair">
        <ModelsCard {...{ answer, free }} />
        <FailuresCard answer={answer} />
      </div>
      <CallsCard {...props} />
    </>
  )
}

type Charts = Readonly<Record<'requests' | 'errors' | 'latency' | 'firstToken' | 'speed', ChartPanel>>

function chartsOf(answer: Overview, frame: TimeFrame, earlier: Overview | null): Charts {
  const charts: Charts = {
    requests: requestPanel(answer, frame),
    errors: errorPanel(answer, frame),
    latency: latencyPanel(answer, frame),
    firstToken: firstTokenPanel(answer, frame),
    speed: speedPanel(answer, frame),
  }
  if (earlier === null) return charts
  const before = chartsOf(earlier, frameOf(earlier), null)
  const under = (name: keyof Charts, key: string): ChartPanel => {
    const series = before[name].series.find((candidate) => candidate.key === key)
    return series === undefined ? charts[name] : withEarlier(charts[name], [answer, earlier], series)
  }
  return {
    requests: withEarlier(charts.requests, [answer, earlier], earlierCalls(earlier)),
    errors: charts.errors,
    latency: under('latency', 'p95'),
    firstToken: under('firstToken', 'p95'),
    speed: under('speed', 'p50'),
  }
}

/** Returns the text over a plot without a value. */
function emptyWords({ n }: OverviewMeasure, calls: string): string {
  return n === 0 ? `No ${calls}` : `Too few ${calls} for a percentile`
}

function courseOf({ course, colour }: OverviewCard) {
  return <Sparkline values={course} colour={colour} />
}

/** The use of the slots, and the waits of calls for them. */
function SlotsCard({ answer, frame }: { readonly answer: Overview; readonly frame: TimeFrame }) {
  const { address } = useNavigation()
  const isOfAll = useLive(({ status }) => (status?.health?.upstreams?.length ?? 0) > 1)
  const panels = useMemo(() => slotPanels(answer, frame, isOfAll), [answer, frame, isOfAll])
  return (
    <TimeChart
      title="Slots and queue"
      about={
        isFiltered(address)
          ? 'slots and queue: all calls; wait: filtered calls'
          : `peak per ${perBucket(answer.bucket_s)}${isOfAll ? ', all upstreams together' : ''}`
      }
      panels={panels}
      actions={
        <Popover label="How many slots would be enough" class="small" widthPx={480} words="How many slots?">
          {() => <SlotWaitsPanel />}
        </Popover>
      }
      to={({ fromMs, toMs }) => ({ view: 'calls', range: { last: null, fromMs, toMs }, sort: 'started_at' })}
      empty="Nothing recorded in this range"
    />
  )
}

const heights = [
  ['figure-cards overview-cards', 7, 9.58],
  ['overview-pair', 2, 16],
  ['overview-pair', 2, 20.5],
  ['overview-pair', 2, 16],
] as const

/** Placeholders of the cards, in their final size. */
export function OverviewSkeleton() {
  return (
    <div class="view stack overview" aria-busy="true" aria-label="Loading" role="status">
      {heights.map(([name, count, rem], at) => (
        <div key={at} class={name}>
          {Array.from({ length: count }, (_, index) => (
            <div key={index} class="card" style={{ height: `${rem}rem` }}>
              <div class="skeleton" style={{ width: '8rem', height: '1rem', margin: '1rem' }} />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
