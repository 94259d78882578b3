import { useEffect, useRef, useState } from 'preact/hooks'
import { useDelayed } from '../design/use-delayed.ts'
import { StateMark } from '../design/icon.tsx'
import { count, counted } from '../format/figures.ts'
import { boardWords } from './board-rows.ts'
import type { LiveFeed } from './live-feed.ts'

/** A connection that returns within this time is not announced. */
const soonMs = 1500
/** Screen readers announce the number of calls at most this often. */
const sayEveryMs = 10_000

export interface LiveAnnouncementProps {
  readonly feed: LiveFeed
  /** True if the gateway can be reached; null until that is known. */
  readonly isReached: boolean | null
  readonly isRunning: boolean
  /** The number of calls that match the filter. */
  readonly shown: number
}

/** Announces whether the feed runs, and the numbers of its calls and losses. */
export function LiveAnnouncement({ feed, isReached, isRunning, shown }: LiveAnnouncementProps) {
  const isLost = useDelayed(!feed.isConnected || isReached === false, soonMs)
  const underWay = boardWords(feed.board?.calls ?? [])
  const { dropped, hasGap } = feed
  const calls = counted(feed.calls.length, 'call')
  const [announced, announce] = useState('')
  const latest = useRef('')
  latest.current = feed.calls.length === 0 ? '' : [calls, underWay].filter((words) => words !== '').join(', ')
  useEffect(() => {
    const timer = setInterval(() => announce(latest.current), sayEveryMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="live-told row wraps fine">
      <span role="status">
        {!isRunning ? (
          <span class="notice">The gateway is stopped</span>
        ) : isLost ? (
          <span class="notice">Reconnecting…</span>
        ) : (
          <span class="is-on">
            <StateMark shape="disc" size={10} />
            Live
          </span>
        )}
      </span>
      {feed.calls.length > 0 && (
        <span>
          {shown < feed.calls.length ? `${count(shown)} of ` : ''}
          {calls}
          {feed.total > feed.calls.length && ' (latest)'}
        </span>
      )}
      {dropped > 0 && (
        <span class="notice">
          {hasGap && 'Over '}
          {counted(dropped, 'record')} skipped: too many at once
        </span>
      )}
      {dropped === 0 && hasGap && (
        <span class="notice" title="The gateway restarted, or the connection to it was lost.">
          Some records may be missing
        </span>
      )}
      <span class="aside" role="status">
        {announced}
      </span>
    </div>
  )
}
