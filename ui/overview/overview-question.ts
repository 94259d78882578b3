import type { Overview } from '../../src/api/overview.ts'
import { type PageAddress, callsQuery } from '../data/page-address.ts'
import { questionTime } from '../data/page-range.ts'

/**
 * Returns the API path of the Overview. A range that ends now begins at a full second and has no end, so that
 * requests within a second share one answer.
 */
export function overviewPath(address: PageAddress, zone: string, nowMs: number): string {
  const { fromMs, toMs } = questionTime(address, nowMs)
  const wholeMs = toMs === null ? Math.floor(fromMs / 1000) * 1000 : fromMs
  return `/api/overview?${callsQuery(address, { fromMs: wholeMs, toMs }, { tz: zone })}`
}

/** Returns the path of the report, which is one file with the figures of the Overview. */
export function reportPath(address: PageAddress, zone: string, nowMs: number): string {
  return overviewPath(address, zone, nowMs).replace('/api/overview', '/api/report')
}

type Timed = Pick<Overview, 'chat_only' | 'timed'>

/**
 * Returns the filter for the calls behind times and speeds: successful ones, and only chats if the answer says so.
 */
export function timedCalls({ chat_only, timed }: Timed): Partial<PageAddress> {
  const ended: Partial<PageAddress> = timed === 'failed' ? { errorsOnly: true } : { outcomes: ['ok'] }
  return { ...ended, ...(chat_only ? { callTypes: ['chat'] } : {}) }
}

/** Returns a text on the calls behind times and speeds. */
export function timedWords({ chat_only, timed }: Timed): string {
  return `${chat_only ? 'chat calls' : 'calls'} that ${timed === 'failed' ? 'failed' : 'succeeded'}`
}
