import type { QueryState } from '../data/use-query.ts'
import { Banner } from './banner.tsx'

export interface AwaitedProps extends Pick<QueryState<unknown>, 'error' | 'again'> {
  /** Names the missing part: `the clients`. */
  readonly what: string
  /** Height of the placeholder, so that nothing jumps; nothing is shown without one. */
  readonly height?: string
}

/** Placeholder or error for a part that the dashboard has not sent. */
export function Awaited({ what, height, error, again }: AwaitedProps) {
  if (error === null) return height === undefined ? null : <div class="skeleton" style={{ height }} />
  return (
    <Banner tone="bad" onRetry={again}>
      Could not load {what}: {error}
    </Banner>
  )
}
