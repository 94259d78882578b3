import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SyncResult, PriceListSource } from '../api/costs.ts'
import { applySync } from './apply-sync.ts'
import { type FetchBounds, fetchBounds, fetchPriceList, isUrl } from './fetch-price-list.ts'
import { fromLiteLlm } from './litellm-adapter.ts'
import { changePrices, pricesToChange } from './change-prices.ts'
import { type ModelCosts, neverSynced } from './model-costs.ts'
import { type PriceList, PriceListError } from './price-list.ts'

/** The source of a list, and the wall clock. */
export interface SyncOrder {
  /** A URL, or a file's path. */
  readonly source: string
  /** Milliseconds since the Unix epoch. */
  readonly wallTime: () => number
  readonly bounds?: FetchBounds
}

/**
 * Updates the price file at a path from a list. After an error or a kill, the file is the old or the new one.
 * Rejects with {@link PriceListError} or `PriceFileError`.
 */
export async function syncPrices(
  path: string,
  { source, wallTime, bounds = fetchBounds }: SyncOrder,
): Promise<SyncResult> {
  const time = (): string => new Date(wallTime()).toISOString()
  const startedAt = time()
  const fetched = await fetchPriceList(source, knownTag(pricesToChange(path), source), bounds)
  const newList = fetched === 'not_modified' ? null : listOf(fetched, source)
  return changePrices(path, (costs) => {
    removeUnfinished(path)
    const now = time()
    if (newList === null) {
      const { entries = 0, rejected = 0 } = costs.source ?? {}
      const sync = { ...neverSynced, started_at: startedAt, finished_at: now }
      const report = { added: 0, changed: 0, removed: 0, entries, rejected, not_modified: true }
      return [{ ...costs, synced_at: now, sync }, report]
    }
    const { costs: synced, ...counts } = applySync(costs, newList.list, newList.source, now)
    const report = { ...counts, entries: newList.list.models.size, not_modified: false }
    return [{ ...synced, sync: { ...synced.sync, started_at: startedAt } }, report]
  })
}

/** The ETag of the last list from the same source; null without one. */
function knownTag({ source }: ModelCosts, from: string): string | null {
  return isUrl(from) && source?.url === from ? (source.etag ?? null) : null
}

function listOf(
  { text, etag }: { readonly text: string; readonly etag: string | null },
  from: string,
): { readonly list: PriceList; readonly source: PriceListSource } {
  const list = fromLiteLlm(jsonIn(text))
  if (list === null)
    throw new PriceListError("The price list is not in LiteLLM's format: it is JSON of another form.")
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { list, source: { name: 'litellm', url: from, etag, sha256, licence: 'MIT' } }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const start = text.trimStart().slice(0, 40).replaceAll(/\s+/g, ' ')
    const what = start === '' ? 'it is empty' : `it begins with ${JSON.stringify(start)}, and is not JSON`
    throw new PriceListError(`The price list is not complete: ${what}.`, { cause: error })
  }
}

/** Deletes temporary files of processes that were killed. The caller holds the lock, so no other process is writing. */
function removeUnfinished(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    const suffix = name.startsWith(`${basename(path)}.`) ? name.slice(basename(path).length) : ''
    if (/^(?:\.good)?\.\d+\.new$/.test(suffix)) rmSync(join(folder, name), { force: true })
  }
}
