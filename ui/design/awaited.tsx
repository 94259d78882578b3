import type { QueryState } from '../data/use-query.ts'
import { Banner } from './banner.tsx'

export interface AwaitedProps extends Pick<QueryState<unknown>, 'error' | 'again'> {
  /** The subject of the sentence: `the clients`. */
  readonly what: string
  /** The height of the placeholder, so that nothing jumps. Without a height, nothing is shown. */
  readonly height?: string
}

/** A placeholder or an error in place of a part that has not arrived. */
export function Awaited({ what, height, error, again }: AwaitedProps) {
  if (error === null) return height === undefined ? null : <div class="skeleton" style={{ height }} />
  return (
    <Banner tone="bad" onRetry={again}>
      Could not load {what}: {error}
    </Banner>
  )
}
