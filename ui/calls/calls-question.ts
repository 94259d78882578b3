import { type PageAddress, boundsOf, writeFilter } from '../data/page-address.ts'

/** Calls that are asked for at once. */
export const pageSize = 100
/** Calls that a list holds at most: who needs more narrows the question, or exports. */
export const maxListed = 10_000
/** Calls of one export. */
export const maxExported = 10_000

/** The time that a list is of. */
export interface ListedBounds {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Whether it ends now, so that what comes belongs to it. */
  readonly isOpen: boolean
}

/** The time that the list of an address is of. */
export function listedBounds({ range }: PageAddress, nowMs: number): ListedBounds {
  return { ...boundsOf(range, nowMs), isOpen: range.last !== null }
}

/** Tells lists apart: all of an address that decides which calls are listed, and in which order. */
export function listKey(address: PageAddress): string {
  const query = new URLSearchParams()
  writeFilter(query, address)
  return JSON.stringify([query.toString(), address.range, address.sort])
}

/** Asks for the first page of a list, or for the one that begins after the call `cursor`. */
export function listPath(address: PageAddress, bounds: ListedBounds, cursor: string | null = null): string {
  const query = selection(address, bounds)
  if (address.sort !== 'started_at') query.set('sort', address.sort)
  query.set('limit', String(pageSize))
  if (cursor !== null) query.set('cursor', cursor)
  return `/api/query?${query}`
}

/** Where the same calls can be had as a file. */
export function exportPath(address: PageAddress, bounds: ListedBounds, format: 'csv' | 'ndjson'): string {
  const query = selection(address, bounds)
  if (address.sort !== 'started_at') query.set('sort', address.sort)
  query.set('limit', String(address.sort === 'started_at' ? maxExported : pageSize))
  query.set('format', format)
  return `/api/query?${query}`
}

/** Asks how many calls there are by a client or failure code, whatever of these is chosen. */
export function facetPath(
  address: PageAddress,
  bounds: ListedBounds,
  facet: 'client' | 'failure_code',
): string {
  const without = facet === 'client' ? { clients: [] } : { failureCodes: [] }
  const query = selection({ ...address, ...without }, bounds)
  query.set('group_by', facet)
  return `/api/query?${query}`
}

/** Which calls are meant. An open end is left out: calls that began a moment ago, by another clock, belong to it too. */
export function selection(address: PageAddress, { fromMs, toMs, isOpen }: ListedBounds): URLSearchParams {
  const query = new URLSearchParams({ from: new Date(fromMs).toISOString() })
  if (!isOpen) query.set('to', new Date(toMs).toISOString())
  writeFilter(query, address)
  return query
}
