import type { QueryState } from '../data/use-query.ts'
import { Note } from './note.tsx'

export interface AwaitedProps extends Pick<QueryState<unknown>, 'trouble' | 'again'> {
  /** Names what is missing: `The clients`. */
  readonly what: string
  /** Of what is to come, so that nothing jumps; nothing is shown without one. */
  readonly height?: string
}

/** In place of something that the dashboard has not answered with. */
export function Awaited({ what, height, trouble, again }: AwaitedProps) {
  if (trouble === null) return height === undefined ? null : <div class="skeleton" style={{ height }} />
  return (
    <Note tone="bad" onRetry={again}>
      {what} cannot be read: {trouble}
    </Note>
  )
}
