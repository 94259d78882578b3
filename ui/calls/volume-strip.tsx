import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks'
import { useChartRoom } from '../charts/chart-room.tsx'
import { type Draw, Plot } from '../charts/plot.tsx'
import { type TimeFrame, bucketBounds, shareOfTime } from '../charts/time-frame.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { useAnswer } from '../data/use-answer.ts'
import { count, counted } from '../format/figures.ts'
import {
  type VolumeBar,
  type VolumeGroup,
  type VolumeQuestion,
  volumeBars,
  volumeQuestion,
} from './call-volume.ts'
import { listKey, listedBounds } from './calls-question.ts'

/** Calls grow upwards from the base line, failed ones downwards. */
const [heightPx, basePx, leastPx] = [56, 42, 1.5]

/**
 * The calls over time, and how many of them failed; a span that is dragged over becomes the range. They are counted
 * anew when `answer`, of the list, is another one.
 */
export function VolumeStrip({ answer }: { readonly answer: CallsAnswer | null }) {
  const { palette } = useChartRoom()
  const times = useTimes()
  const { address } = useNavigation()
  const ask = (): VolumeQuestion => volumeQuestion(address, listedBounds(address, nowMs()), times.zone)
  // However the list is sorted.
  const chronological = { ...address, sort: 'started_at' } as const
  const volume = useAnswer<{ readonly groups?: readonly VolumeGroup[] }, VolumeQuestion>(
    `${listKey(chronological)} ${times.zone}`,
    ask,
  )
  const { again, trouble, isStale, isLoading } = volume
  const listed = useRef({ key: '', answer })
  useEffect(() => {
    const before = listed.current
    listed.current = { key: listKey(address), answer }
    // Another question is counted by itself; the same one anew when the list was.
    if (before.answer !== null && before.key === listed.current.key) again()
  }, [answer])
  const isGone = trouble !== null && isStale && !isLoading
  const { question, bars } = useMemo(() => {
    const question = isGone ? ask() : volume.question
    const groups = isGone ? [] : (volume.answer?.groups ?? [])
    return { question, bars: question === null ? [] : volumeBars(question, groups) }
  }, [volume.answer, isGone])
  const mostCalls = Math.max(1, ...bars.map(({ calls }) => calls))
  const mostErrors = Math.max(0, ...bars.map(({ errors }) => errors))
  // Only failed calls are asked for.
  const areAllFailed = mostErrors > 0 && bars.every(({ calls, errors }) => calls === errors)
  const draw = useCallback<Draw>(
    (context, width) => {
      if (question === null) return
      const { frame } = question
      /** `heightOf` is in pixels, and negative if the bar grows upwards. */
      const drawBars = (fromPx: number, heightOf: (bar: VolumeBar) => number): void => {
        for (const [index, bar] of bars.entries()) {
          const height = heightOf(bar)
          if (height === 0) continue
          const { fromMs, toMs } = bucketBounds(frame, index)
          const x = shareOfTime(frame, fromMs) * width
          const barWidth = Math.max(0.5, (shareOfTime(frame, toMs) * width - x) * 0.84)
          context.fillRect(x, fromPx, barWidth, Math.sign(height) * Math.max(leastPx, Math.abs(height)))
        }
      }
      context.fillStyle = areAllFailed ? palette.bad : palette.first
      context.globalAlpha = areAllFailed ? 1 : 0.75
      drawBars(basePx, ({ calls }) => (calls / mostCalls) * -basePx)
      context.globalAlpha = 1
      if (areAllFailed) return
      // Failed calls have a scale of their own, on which a few of many stay as small as they are.
      const errorPx = (heightPx - basePx - 1) / Math.max(mostErrors, mostCalls / 10)
      context.fillStyle = palette.bad
      drawBars(basePx + 1, ({ errors }) => errors * errorPx)
    },
    [question, bars, palette],
  )
  const hasBars = bars.some(({ calls }) => calls > 0)
  return (
    <div class="volume" aria-busy={isStale && trouble === null}>
      <div class="volume-head finest">
        <h2>Calls per {question?.stepWords ?? 'hour'}</h2>
        {hasBars && (
          <span class={`volume-key colour-key ${areAllFailed ? 'failed' : ''}`}>
            {areAllFailed ? 'Failed' : 'All'}, at most {count(mostCalls)}
          </span>
        )}
        {mostErrors > 0 && !areAllFailed && (
          <span class="volume-key colour-key failed">Failed, at most {count(mostErrors)}</span>
        )}
        <span class="at-end">{hasBars && 'Drag over the bars to look closer'}</span>
      </div>
      <Plot
        frame={question?.frame ?? nothing}
        heightPx={heightPx}
        ticks={[{ height: 1 - basePx / heightPx, words: '' }]}
        hasTimes
        draw={draw}
        empty={isGone ? 'Cannot be told for this range' : null}
        label="Calls over time; Enter looks closer"
        speak={(index) => barWords(bars[index])}
        to={({ fromMs, toMs }) => ({ range: { last: null, fromMs, toMs } })}
      />
    </div>
  )
}

const nothing: TimeFrame = { fromMs: 0, toMs: 1, startsMs: [], bucketMs: 1 }

function barWords({ calls, errors }: VolumeBar = { calls: 0, errors: 0 }): string {
  return `${counted(calls, 'call')}, ${errors === 0 ? 'none' : count(errors)} failed`
}
