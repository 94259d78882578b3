import type { Times } from '../format/times.ts'

/** What was typed into the form of the options and not saved yet, by the option's name. */
export type OptionDrafts = ReadonlyMap<string, string>

/** Nothing was typed. */
export const noDrafts: OptionDrafts = new Map()

/** What every view is given. */
export interface ViewProps {
  readonly times: Times
  /** Kept while other views are looked at. */
  readonly drafts: OptionDrafts
  readonly onDrafts: (drafts: OptionDrafts) => void
}
