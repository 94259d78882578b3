/** What was typed into the form of the options and not saved yet, by the option's name. */
export type OptionDrafts = ReadonlyMap<string, string>

/** Nothing was typed. */
export const noDrafts: OptionDrafts = new Map()
