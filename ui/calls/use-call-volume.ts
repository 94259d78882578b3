import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { useAnswer } from '../data/use-answer.ts'
import { type ListedBounds, listKey, listedBounds } from './calls-question.ts'
import { type VolumeBar, type VolumeGroup, volumeBars, volumeQuestion } from './volume-bars.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** How many calls there were by and by, and of which time and steps that is. */
export interface CallVolume extends ReturnType<typeof volumeQuestion> {
  readonly bars: readonly VolumeBar[]
  readonly bounds: ListedBounds
  /** Why there are no bars. */
  readonly note: string | null
}

/**
 * Counts the calls that an address means, by time, whatever they are sorted by; anew when `answer`, of the list,
 * is another one.
 */
export function useCallVolume(zone: string, answer: CallsAnswer | null): CallVolume {
  const { address } = useNavigation()
  const asked = useRef<Asked>(unasked)
  const chronological = { ...address, sort: 'started_at' } as const
  const counted = useAnswer<{ readonly groups?: readonly VolumeGroup[] }>(
    `${listKey(chronological)} ${zone}`,
    () => {
      const bounds = listedBounds(chronological, nowMs())
      asked.current = { bounds, ...volumeQuestion(address, bounds, zone), utc: address.utc }
      return asked.current.path
    },
    { everyMs: null },
  )
  const { again, trouble, isStale, isLoading } = counted
  const listed = useRef({ key: '', answer })
  useEffect(() => {
    const before = listed.current
    listed.current = { key: listKey(address), answer }
    // Another question is counted by itself; the same one anew when the list was.
    if (before.answer !== null && before.key === listed.current.key) again()
  }, [answer])
  const isGone = trouble !== null && isStale && !isLoading
  return useMemo(() => {
    const { bounds, utc, ...question } = asked.current
    const bars = isGone ? [] : volumeBars(counted.answer?.groups ?? [], question.minutes, bounds, utc)
    return { ...question, bounds, bars, note: isGone ? 'Cannot be told for this range' : null }
  }, [counted.answer, isGone])
}

interface Asked extends ReturnType<typeof volumeQuestion> {
  readonly bounds: ListedBounds
  readonly utc: boolean
}

const unasked: Asked = {
  unit: 'hour',
  minutes: 1,
  path: '',
  bounds: { fromMs: 0, toMs: 1, isOpen: true },
  utc: false,
}
