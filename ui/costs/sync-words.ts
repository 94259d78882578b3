import type { Costs } from '../../src/api/costs.ts'
import { count, counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { agoWords, sourceWords } from '../data/price-source.ts'

/** How many prices are known and how old they are, in a line beside the title. */
export function bookWords({ models, overrides, source, synced_at: syncedAt }: Costs, nowMs: number): string {
  const known = Object.keys(models).length
  const own = Object.keys(overrides).length
  const ms = syncedAt === null ? Number.NaN : Date.parse(syncedAt)
  return [
    known === 0 ? 'no price list' : counted(known, 'price'),
    ...(own === 0 ? [] : [`${count(own)} of your own`]),
    Number.isNaN(ms)
      ? known === 0
        ? 'never synced'
        : 'as shipped, never synced'
      : `${source === null ? '' : `${sourceWords(source.name)}, `}synced ${agoWords(ms, nowMs)}`,
  ].join(' · ')
}

/** The changes of the last sync; null if there was none, or it failed. */
export function syncWords({ sync, source, synced_at: syncedAt }: Costs, times: Times): string | null {
  if (syncedAt === null || sync.state === 'running' || sync.last_error !== null) return null
  const { added, changed, removed } = sync
  const what = [
    ...(added > 0 ? [`${count(added)} added`] : []),
    ...(changed > 0 ? [`${count(changed)} changed`] : []),
    ...(removed > 0 ? [`${count(removed)} no longer listed`] : []),
  ]
  const rejected = source?.rejected ?? 0
  return [
    `Last sync ${times.dayAndClock(Date.parse(syncedAt))}${times.suffix}${fromWords(source?.url ?? null)}: ${what.length === 0 ? 'nothing had changed' : what.join(', ')}.`,
    ...(rejected > 0
      ? [
          `${counted(rejected, 'entry', 'entries')} of the list ${rejected === 1 ? 'has' : 'have'} no price for tokens, or none to be believed.`,
        ]
      : []),
  ].join(' ')
}

/** Tells that the last sync failed; null if it did not. */
export function syncFailure({ sync, synced_at: syncedAt }: Costs, times: Times): string | null {
  if (sync.last_error === null || sync.state === 'running') return null
  const kept =
    syncedAt === null
      ? 'the prices there were'
      : `the prices of ${times.dayAndClock(Date.parse(syncedAt))}${times.suffix}`
  return `The last sync came to nothing: ${withPoint(sync.last_error)} Still in force: ${kept}.`
}

/** Tells that the price file cannot be read; null if it can. */
export function problemWords({ problem }: Costs): string | null {
  if (problem === null) return null
  const { message, line, column } = problem
  const place =
    line === null ? '' : ` Line ${count(line)}${column === null ? '' : `, column ${count(column)}`}.`
  return `${withPoint(message)}${place} The last good one is in force until it is mended.`
}

function fromWords(url: string | null): string {
  if (url === null) return ''
  if (!/^https?:/.test(url)) return ` from ${url}`
  return URL.canParse(url) ? ` from ${new URL(url).host}` : ''
}

function withPoint(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
