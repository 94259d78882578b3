import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { applySync } from './apply-sync.ts'
import { type FetchBounds, fetchBounds, fetchPriceList, isUrl } from './fetch-price-list.ts'
import { fromLiteLlm } from './litellm-adapter.ts'
import { changePrices, pricesToChange } from './change-prices.ts'
import { type ModelCosts, neverSynced, type PriceListSource } from './model-costs.ts'
import type { PriceList } from './price-list.ts'

/** The outcome of a sync. */
export interface SyncReport {
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** Prices in the list, and entries of it that were left out. */
  readonly entries: number
  readonly rejected: number
  /** The source said that the list is still the one that was taken last. */
  readonly notModified: boolean
}

/** No list of prices came, or none that can be right: the prices are as they were. */
export class PriceSyncError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PriceSyncError'
  }
}

/** The source of a list, and the clock on the wall. */
export interface SyncOrder {
  /** A URL, or a file's path. */
  readonly source: string
  /** Milliseconds since the Unix epoch. */
  readonly wallTime: () => number
  readonly bounds?: FetchBounds
}

/**
 * Brings the price file at a path up to date with a list. Whatever goes wrong, and whenever the process ends, the file is
 * the one before or the one after. Rejects with `PriceFetchError`, `PriceSyncError` or `PriceFileError`.
 */
export async function syncPrices(
  path: string,
  { source, wallTime, bounds = fetchBounds }: SyncOrder,
): Promise<SyncReport> {
  const time = (): string => new Date(wallTime()).toISOString()
  const startedAt = time()
  const fetched = await fetchPriceList(source, knownTag(pricesToChange(path), source), bounds)
  const taken = fetched === 'not_modified' ? null : listOf(fetched, source)
  return changePrices(path, (costs) => {
    removeUnfinished(path)
    const now = time()
    if (taken === null) {
      const { entries = 0, rejected = 0 } = costs.source ?? {}
      const sync = { ...neverSynced, started_at: startedAt, finished_at: now }
      const report = { added: 0, changed: 0, removed: 0, entries, rejected, notModified: true }
      return [{ ...costs, synced_at: now, sync }, report]
    }
    const outcome = applySync(costs, taken.list, taken.source, now)
    if ('refused' in outcome) throw new PriceSyncError(`${outcome.refused} The prices were left as they are.`)
    const { costs: synced, ...counts } = outcome
    const report = { ...counts, entries: taken.list.models.size, notModified: false }
    return [{ ...synced, sync: { ...synced.sync, started_at: startedAt } }, report]
  })
}

/** Of the list that was taken from this very source last. */
function knownTag({ source }: ModelCosts, from: string): string | null {
  return isUrl(from) && source?.url === from ? (source.etag ?? null) : null
}

function listOf(
  { text, etag }: { readonly text: string; readonly etag: string | null },
  from: string,
): { readonly list: PriceList; readonly source: PriceListSource } {
  const list = fromLiteLlm(jsonIn(text))
  if (list === null) throw new PriceSyncError('What came is no list of prices: it is JSON of another form.')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { list, source: { name: 'litellm', url: from, etag, sha256, licence: 'MIT' } }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const start = text.trimStart().slice(0, 40).replaceAll(/\s+/g, ' ')
    const what = start === '' ? 'it is empty' : `it begins with ${JSON.stringify(start)}, and is no JSON`
    throw new PriceSyncError(`What came is no list of prices, or not all of it: ${what}.`, error)
  }
}

/** Deletes the files of processes that were killed while they wrote. With the lock held nobody else writes. */
function removeUnfinished(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    const rest = name.startsWith(`${basename(path)}.`) ? name.slice(basename(path).length) : ''
    if (/^(?:\.good)?\.\d+\.new$/.test(rest)) rmSync(join(folder, name), { force: true })
  }
}
