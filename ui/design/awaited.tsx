import type { QueryState } from '../data/use-query.ts'
import { Banner } from './banner.tsx'
import { FoldedTime } from './folded-time.tsx'

export interface AwaitedProps
  extends Pick<QueryState<unknown>, 'error' | 'again'>, Partial<Pick<QueryState<unknown>, 'failure'>> {
  /** The subject of the sentence: `the clients`. */
  readonly what: string
  /** The height of the placeholder, so that nothing jumps. Without a height, nothing is shown. */
  readonly height?: string
}

/** A placeholder or an error in place of an answer that has not arrived. */
export function Awaited({ what, height, error, failure, again }: AwaitedProps) {
  if (error === null) return height === undefined ? null : <div class="skeleton" style={{ height }} />
  const from = failure?.code === 'folded_range' ? failure.data['from'] : undefined
  if (from !== undefined) return <FoldedTime untilMs={Date.parse(from)} />
  return (
    <Banner tone="bad" onRetry={again}>
      Could not load {what}: {error}
    </Banner>
  )
}
