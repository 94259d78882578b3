import type { ExportFormat } from '../../src/api/database-job.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type PageAddress, callsQuery, queryKey } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'

/** The number of calls in a page. */
export const pageSize = 100
/** The most calls of a list. For more, users filter or export. */
export const maxListed = 10_000

/** The range of a list. */
export interface ListedBounds extends Bounds {
  /** True if the range ends now, so that new calls belong to it. */
  readonly isOpen: boolean
}

/** Returns the range of an address's list. */
export function listedBounds(address: PageAddress, nowMs: number): ListedBounds {
  return { ...boundsOf(address, nowMs), isOpen: address.range.last !== null }
}

/** Returns the key of a list: the parts of an address that decide its calls and their order. */
export function listKey(address: PageAddress): string {
  return queryKey(address, address.sort, address.rising)
}

/** True if the newest calls come first in the list. */
export function isNewestFirst({ sort, rising }: PageAddress): boolean {
  return sort === 'started_at' && !rising
}

/** Returns the API path of the first page of a list, or of the page after `cursor`. */
export function listPath(address: PageAddress, bounds: ListedBounds, cursor: string | null = null): string {
  return pathOf(address, bounds, { limit: String(pageSize), ...(cursor === null ? {} : { cursor }) })
}

/** Returns the API path of a file with all calls of the range. */
export function exportPath(address: PageAddress, bounds: ListedBounds, format: ExportFormat): string {
  return `/api/export?${selection(address, bounds, { format })}`
}

function pathOf(address: PageAddress, bounds: ListedBounds, more: Readonly<Record<string, string>>): string {
  const order = {
    ...(address.sort !== 'started_at' && { sort: address.sort }),
    ...(address.rising && { rising: 'true' }),
  }
  return `/api/query?${selection(address, bounds, { ...order, ...more })}`
}

/**
 * Returns the parameters that select the calls. An open end is left out, so that calls that began a moment ago, by
 * another clock, are included.
 */
export function selection(
  address: PageAddress,
  { fromMs, toMs, isOpen }: ListedBounds,
  more: Readonly<Record<string, string>>,
): URLSearchParams {
  return callsQuery(address, { fromMs, toMs: isOpen ? null : toMs }, more)
}
