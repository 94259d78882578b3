import type { ExportFormat } from '../../src/api/database-job.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type PageAddress, callsQuery, queryKey } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'

/** Calls of a page. */
export const pageSize = 100
/** Most calls of a list; for more, users filter or export. */
export const maxListed = 10_000

/** The range of a list. */
export interface ListedBounds extends Bounds {
  /** The range ends now: new calls belong to it. */
  readonly isOpen: boolean
}

/** The range of an address's list. */
export function listedBounds(address: PageAddress, nowMs: number): ListedBounds {
  return { ...boundsOf(address, nowMs), isOpen: address.range.last !== null }
}

/** The key of a list: the parts of an address that decide which calls it has, and in which order. */
export function listKey(address: PageAddress): string {
  return queryKey(address, address.sort, address.rising)
}

/** The order in which a list has further pages. */
export function isNewestFirst({ sort, rising }: PageAddress): boolean {
  return sort === 'started_at' && !rising
}

/** Asks for the first page of a list, or for the one that begins after the call `cursor`. */
export function listPath(address: PageAddress, bounds: ListedBounds, cursor: string | null = null): string {
  return pathOf(address, bounds, { limit: String(pageSize), ...(cursor === null ? {} : { cursor }) })
}

/** Asks for all calls of the range as a file. */
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

/** Selects the calls. An open end is left out: calls that began a moment ago, by another clock, belong to it too. */
export function selection(
  address: PageAddress,
  { fromMs, toMs, isOpen }: ListedBounds,
  more: Readonly<Record<string, string>>,
): URLSearchParams {
  return callsQuery(address, { fromMs, toMs: isOpen ? null : toMs }, more)
}
