import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { PageAddress } from '../data/page-address.ts'
import { HeatMap } from '../charts/heat-map.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import { TimeChart } from '../charts/time-chart.tsx'
import type { Bounds } from '../charts/time-frame.ts'
import { FigureCards } from '../design/figure-cards.tsx'
import { Note } from '../design/note.tsx'
import { counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { CallsCard, type ListedCalls } from './calls-card.tsx'
import { FailuresCard } from './failures-card.tsx'
import { ModelsCard } from './models-card.tsx'
import type { Overview } from '../../src/api/overview.ts'
import { type OverviewCard, overviewCards } from './overview-cards.ts'
import { firstTokenParts, latencyParts, requestParts, speedParts, tallPx } from './overview-charts.ts'
import { frameOf, perBucket } from './overview-time.ts'
import { SlotsCard } from './slots-card.tsx'
import { timedCalls, timedWords } from './timed-calls.ts'

export interface OverviewBodyProps {
  readonly answer: Overview
  readonly times: Times
  readonly list: ListedCalls
  readonly onList: (list: ListedCalls) => void
  readonly onOpen: (id: string) => void
}

/** All that an answer tells. */
export function OverviewBody({ answer, times, list, onList, onOpen }: OverviewBodyProps): JSX.Element {
  const frame = useMemo(() => frameOf(answer), [answer])
  const cards = useMemo(() => overviewCards(answer), [answer])
  const parts = useMemo(
    () => ({
      latency: latencyParts(answer, frame),
      requests: requestParts(answer, frame),
      firstToken: firstTokenParts(answer, frame),
      speed: speedParts(answer, frame),
    }),
    [answer, frame],
  )
  const { buckets, heat } = answer
  const timed = timedCalls(answer)
  const aboutTimed = timedWords(answer)
  const inCalls = ({ fromMs, toMs }: Bounds, rest: Partial<PageAddress>): Partial<PageAddress> => ({
    view: 'calls',
    range: { last: null, fromMs, toMs },
    sort: 'started_at',
    ...rest,
  })
  const calls =
    (counts: readonly number[]): ((index: number) => string) =>
    (index) =>
      counted(counts[index] ?? 0, 'call')
  return (
    <>
      {answer.resolution !== undefined && (
        <Note>Older calls of this time were folded into sums: lists hold only those that were kept.</Note>
      )}
      <FigureCards cards={cards} foot={courseOf} />
      <div class="overview-pair">
        <TimeChart
          title="Latency"
          about={aboutTimed}
          parts={parts.latency}
          to={(bounds) => inCalls(bounds, { ...timed, sort: 'duration' })}
          count={calls(buckets.duration_n)}
          empty={`No ${aboutTimed}`}
        />
        <HeatMap
          title="Latency distribution"
          about={aboutTimed}
          frame={frame}
          heat={heat}
          heightPx={tallPx}
          to={(bounds, minMs, maxMs) => inCalls(bounds, { ...timed, sort: 'duration', minMs, maxMs })}
          empty={`No ${aboutTimed}`}
        />
      </div>
      <SlotsCard answer={answer} frame={frame} />
      <div class="overview-three">
        <TimeChart
          title="Requests"
          about={`per ${perBucket(answer.bucket_s)}`}
          parts={parts.requests}
          to={(bounds) => inCalls(bounds, {})}
          explainsMarks={false}
          empty="No calls"
        />
        <TimeChart
          title="Time to first token"
          about="streamed"
          parts={parts.firstToken}
          to={(bounds) => inCalls(bounds, { ...timed, sort: 'ttft' })}
          count={calls(buckets.ttft_total_n)}
          explainsMarks={false}
          empty="No streamed calls"
        />
        <TimeChart
          title="Output speed"
          about="tokens per second"
          parts={parts.speed}
          to={(bounds) => inCalls(bounds, timed)}
          count={calls(buckets.speed_n)}
          explainsMarks={false}
          empty="No usage was told"
        />
      </div>
      <div class="overview-pair">
        <ModelsCard answer={answer} />
        <FailuresCard answer={answer} />
      </div>
      <CallsCard answer={answer} times={times} list={list} onList={onList} onOpen={onOpen} />
    </>
  )
}

function courseOf({ course, colour }: OverviewCard): JSX.Element {
  return <Sparkline values={course} colour={colour} />
}
