import type { JSX } from 'preact'
import { FirstCallCommand } from '../design/no-calls.tsx'
import type { LiveFeed } from './live-feed.ts'

export interface NothingYetProps {
  readonly feed: LiveFeed
  readonly isRunning: boolean
}

/** Why the list is empty, and what would change that. */
export function NothingYet({ feed, isRunning }: NothingYetProps): JSX.Element {
  if (feed.calls.length > 0) {
    return (
      <div class="live-nothing">
        <h3>No calls match</h3>
        <p>None of the calls that went by fits all of the filters. Those that come are looked at, too.</p>
      </div>
    )
  }
  if (!isRunning) {
    return (
      <div class="live-nothing">
        <h3>The gateway is stopped</h3>
        <p>Start it at the top of the page: calls appear here from their first byte on.</p>
      </div>
    )
  }
  return (
    <div class="live-nothing">
      <h3>Waiting for a call</h3>
      <p>Each call appears here as it begins, and its answer when it has ended. To make one:</p>
      <FirstCallCommand />
    </div>
  )
}
