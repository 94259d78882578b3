import type { PageAddress } from '../data/page-address.ts'
import type { LiveCall } from '../payloads/live-call.ts'

/** Chooses calls of the feed. */
export interface LiveFilter {
  readonly models: readonly string[]
  readonly errorsOnly: boolean
  /** Null for any text. */
  readonly pattern: RegExp | null
}

/** Reads the filter from the address. The same text gives the same pattern, by which calls remember. */
export function liveFilterOf({ models, errorsOnly, text }: PageAddress): LiveFilter {
  return { models, errorsOnly, pattern: text.trim() === '' ? null : patternOf(text.trim()) }
}

/** Those that are shown, the newest first. */
export function shownCalls(calls: readonly LiveCall[], filter: LiveFilter): readonly LiveCall[] {
  return calls.filter((call) => isShown(call, filter)).reverse()
}

function isShown(call: LiveCall, { models, errorsOnly, pattern }: LiveFilter): boolean {
  if (models.length > 0 && (call.model === null || !models.includes(call.model))) return false
  if (errorsOnly && call.ended?.failed !== true) return false
  return pattern === null || call.has(pattern)
}

/** The text itself in whichever case, or as JSON writes it within a text. */
function patternOf(text: string): RegExp {
  const forms = new Set([text, JSON.stringify(text).slice(1, -1)])
  return new RegExp([...forms].map(escaped).join('|'), 'i')
}

/** `RegExp.escape` is too young for some browsers. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
