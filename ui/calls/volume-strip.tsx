import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks'
import { type Draw, Plot } from '../charts/plot.tsx'
import { rectPath } from '../charts/svg-path.ts'
import { type BucketRange, type TimeFrame, bucketBounds, shareOfTime, sumOver } from '../charts/time-frame.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { count, counted } from '../format/figures.ts'
import {
  type VolumeBar,
  type VolumeGroup,
  type VolumeQuestion,
  volumeBars,
  volumeQuestion,
} from './call-volume.ts'
import { listKey } from './calls-question.ts'

/**
 * In pixels: the strip's height, the base line's distance from the top, and the least height of a bar. Bars of all
 * calls rise from the base line, bars of failed calls hang below it.
 */
const [heightPx, basePx, leastPx] = [56, 42, 1.5]

/**
 * The number of calls and failed calls over time. Dragging over a span selects it as the range. The counts are
 * loaded again when `answer`, the answer of the list, changes.
 */
export function VolumeStrip({ answer }: { readonly answer: CallsAnswer | null }) {
  const times = useTimes()
  const { address } = useNavigation()
  const ask = (): VolumeQuestion => volumeQuestion(address, nowMs(), times.zone)
  // The order of the list does not change the counts.
  const chronological = { ...address, sort: 'started_at' } as const
  const volume = useQuery<{ readonly groups?: readonly VolumeGroup[] }, VolumeQuestion>(
    `${listKey(chronological)} ${times.zone}`,
    ask,
  )
  const { again, error, isStale, isRefused } = volume
  const lastAnswer = useRef({ key: '', answer })
  useEffect(() => {
    const before = lastAnswer.current
    lastAnswer.current = { key: listKey(address), answer }
    // A new list loads its counts anyway. A reloaded list has the same key, so its counts are requested here.
    if (before.answer !== null && before.key === lastAnswer.current.key) again()
  }, [answer])
  const { question, bars } = useMemo(() => {
    const question = isRefused ? ask() : volume.question
    const groups = isRefused ? [] : (volume.answer?.groups ?? [])
    return { question, bars: question === null ? [] : volumeBars(question, groups) }
  }, [volume.answer, isRefused])
  const mostCalls = Math.max(1, ...bars.map(({ calls }) => calls))
  const mostErrors = Math.max(0, ...bars.map(({ errors }) => errors))
  // With a filter for failed calls, every counted call has failed.
  const areAllFailed = mostErrors > 0 && bars.every(({ calls, errors }) => calls === errors)
  const draw = useCallback<Draw>(
    (width) => {
      if (question === null) return []
      const { frame } = question
      /** Returns a path of bars from `fromPx`; a negative `pxOf` draws upwards. */
      const barsPath = (fromPx: number, pxOf: (bar: VolumeBar) => number): string =>
        bars
          .map((bar, index) => {
            const px = pxOf(bar)
            if (px === 0) return ''
            const { fromMs, toMs } = bucketBounds(frame, index)
            const left = shareOfTime(frame, fromMs) * width
            const right = left + Math.max(0.5, (shareOfTime(frame, toMs) * width - left) * 0.84)
            const bottom = fromPx + Math.sign(px) * Math.max(leastPx, Math.abs(px))
            return rectPath({ left, right, top: fromPx, bottom })
          })
          .join('')
      const all = barsPath(basePx, ({ calls }) => (calls / mostCalls) * -basePx)
      if (areAllFailed) return [{ kind: 'area', colour: 'bad', d: all }]
      // Failed calls have a separate scale, so that a few failures among many calls stay small.
      const errorPx = (heightPx - basePx - 1) / Math.max(mostErrors, mostCalls / 10)
      const failed = barsPath(basePx + 1, ({ errors }) => errors * errorPx)
      return [
        { kind: 'area', colour: 'first', opacity: 0.75, d: all },
        { kind: 'area', colour: 'bad', d: failed },
      ]
    },
    [question, bars],
  )
  const hasBars = bars.some(({ calls }) => calls > 0)
  return (
    <div class="volume" aria-busy={isStale && error === null}>
      <div class="volume-head row wraps finest">
        <h2>Calls per {question?.stepWords ?? 'hour'}</h2>
        {hasBars && (
          <span
            class="volume-key colour-key"
            style={{ '--part': `var(--${areAllFailed ? 'bad' : 'first'})` }}
          >
            {areAllFailed ? 'Failed' : 'All'}, peak {count(mostCalls)}
          </span>
        )}
        {mostErrors > 0 && !areAllFailed && (
          <span class="volume-key colour-key" style={{ '--part': 'var(--bad)' }}>
            Failed, peak {count(mostErrors)}
          </span>
        )}
        <span class="at-end">{hasBars && 'Drag to zoom'}</span>
      </div>
      <Plot
        frame={question?.frame ?? nothing}
        heightPx={heightPx}
        ticks={[{ height: 1 - basePx / heightPx, words: '' }]}
        hasTimes
        draw={draw}
        empty={isRefused ? 'Not available for this range' : null}
        label="Calls over time. Press Enter to zoom."
        speak={(buckets) => barWords(bars, buckets)}
        to={({ fromMs, toMs }) => ({ range: { last: null, fromMs, toMs } })}
      />
    </div>
  )
}

const nothing: TimeFrame = { fromMs: 0, toMs: 1, startsMs: [], bucketMs: 1 }

function barWords(bars: readonly VolumeBar[], buckets: BucketRange): string {
  const calls = sumOver(buckets, (index) => bars[index]?.calls ?? 0)
  const errors = sumOver(buckets, (index) => bars[index]?.errors ?? 0)
  return `${counted(calls, 'call')}, ${errors === 0 ? 'none' : count(errors)} failed`
}
