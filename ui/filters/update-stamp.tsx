import type { JSX } from 'preact'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { useLasting } from '../design/use-lasting.ts'
import type { Times } from '../format/times.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** So long an answer may take without a word about it: most come within it, and words that flicker unsettle. */
const silentMs = 600

export interface UpdateStampProps {
  readonly times: Times
  /** When what is shown was answered; null while nothing was. */
  readonly answeredMs: number | null
  readonly isLoading: boolean
  /** Why the last question came to nothing. */
  readonly trouble: string | null
  readonly again: () => void
  /** How wide the buckets of time are: `15 min buckets`. */
  readonly bucketWords?: string
}

/** How old what is shown is, and what renews it. */
export function UpdateStamp(props: UpdateStampProps): JSX.Element {
  const { times, answeredMs, isLoading, trouble, again, bucketWords } = props
  const isLong = useLasting(isLoading, silentMs)
  const at = answeredMs === null ? null : times.short(answeredMs, nowMs()) + times.suffix
  if (trouble !== null) {
    return (
      <div class="update-stamp fine at-end is-bad">
        <Icon name="warning" />
        <span role="alert">
          {at === null ? '' : `Not updated since ${at}. `}
          {trouble}
        </span>
        <Button small onClick={again}>
          Try again
        </Button>
      </div>
    )
  }
  const state = isLong ? (at === null ? 'Loading…' : 'Refreshing…') : at === null ? '' : `Updated ${at}`
  return (
    <div class="update-stamp fine at-end">
      <span title={answeredMs === null ? undefined : times.inUtc(answeredMs)}>
        {[state, bucketWords ?? ''].filter((words) => words !== '').join(' · ')}
      </span>
      <Button kind="bare" icon="refresh" label="Refresh" title="Refresh (r)" onClick={again} />
    </div>
  )
}
