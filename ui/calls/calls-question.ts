import type { ExportFormat } from '../../src/api/database-job.ts'
import { type PageAddress, callsQuery } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'

/** The number of calls in a page. */
export const pageSize = 100
/** The most calls of a list. For more, users filter or export. */
export const maxListed = 10_000

/** True if the newest calls come first in the list. */
export function isNewestFirst({ sort, rising }: PageAddress): boolean {
  return sort === 'started_at' && !rising
}

/** Returns the API path of the first page of a list. */
export function listPath(address: PageAddress, nowMs: number): string {
  const { sort, rising } = address
  return `/api/query?${callsQuery(address, questionTime(address, nowMs), {
    ...(sort !== 'started_at' && { sort }),
    ...(rising && { rising: 'true' }),
    limit: String(pageSize),
  })}`
}

/** Returns the API path of the list's unpriced calls by model. */
export function unpricedPath(address: PageAddress, nowMs: number): string {
  const rest = { group_by: 'model', measures: 'none' }
  return `/api/query?${callsQuery(address, questionTime(address, nowMs), rest)}`
}

/** Returns the API path of a file with all calls of the range. */
export function exportPath(address: PageAddress, nowMs: number, format: ExportFormat): string {
  return `/api/export?${callsQuery(address, questionTime(address, nowMs), { format })}`
}
