import type { Times } from '../format/times.ts'
import type { OptionDrafts } from './option-drafts.ts'

/** What every view is given. */
export interface ViewProps {
  readonly times: Times
  /** Kept while other views are looked at. */
  readonly drafts: OptionDrafts
  readonly onDrafts: (drafts: OptionDrafts) => void
}
