import type { QueryState } from '../data/use-query.ts'
import { Banner } from './banner.tsx'

export interface AwaitedProps extends Pick<QueryState<unknown>, 'error' | 'again'> {
  /** Names what is missing: `The clients`. */
  readonly what: string
  /** Of what is to come, so that nothing jumps; nothing is shown without one. */
  readonly height?: string
}

/** In place of something that the dashboard has not answered with. */
export function Awaited({ what, height, error, again }: AwaitedProps) {
  if (error === null) return height === undefined ? null : <div class="skeleton" style={{ height }} />
  return (
    <Banner tone="bad" onRetry={again}>
      {what} cannot be read: {error}
    </Banner>
  )
}
