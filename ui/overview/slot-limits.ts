import type { HealthReport, SlotReport } from '../../src/api/health-report.ts'
import type { SlotWaitsReport } from '../../src/api/slot-waits.ts'
import type { PageAddress } from '../data/page-address.ts'
import { questionTime, timeQuery } from '../data/page-range.ts'
import { counted } from '../format/figures.ts'

const defaultName = 'default'

/** Returns the upstream whose slots are counted: the chosen one, else the first. */
export function upstreamOf({ upstreams }: Pick<PageAddress, 'upstreams'>): string {
  const [first = defaultName] = upstreams
  return upstreams.length === 1 ? first : defaultName
}

/** Returns the current slots of an upstream; null if no gateway reports them. */
export function slotsOf(health: HealthReport | null | undefined, upstream: string): SlotReport | null {
  if (health === null || health === undefined) return null
  if (health.upstreams === undefined) return upstream === defaultName ? health.rate_limiter : null
  return health.upstreams.find(({ name }) => name === upstream)?.rate_limiter ?? null
}

/** Returns the API path for the waits of a range's calls with these slots, and with more. */
export function slotsPath(
  address: Pick<PageAddress, 'range' | 'utc'>,
  upstream: string,
  slots: Pick<SlotReport, 'max_concurrent' | 'slot_cooldown_ms'> | null,
  nowMs: number,
): string {
  const query = timeQuery(questionTime(address, nowMs))
  if (upstream !== defaultName) query.set('upstream_name', upstream)
  if (slots !== null) {
    query.set('max_concurrent', String(slots.max_concurrent))
    query.set('slot_cooldown_ms', String(slots.slot_cooldown_ms))
  }
  return `/api/slots?${query}`
}

/** Returns a sentence that recommends a number of slots. */
export function enoughWords({
  max_concurrent: limit,
  short_waits_at: short,
  no_waits_at: none,
}: Pick<SlotWaitsReport, 'max_concurrent' | 'short_waits_at' | 'no_waits_at'>): string {
  if (short === null || none === null) return ''
  const unqueued = `with ${counted(none, 'slot')}, no call would have waited`
  if (limit !== null && limit >= none)
    return `${counted(limit, 'slot')} ${limit === 1 ? 'is' : 'are'} enough: ${unqueued}.`
  const short95 = 'the p95 wait within 100 ms'
  if (limit !== null && limit >= short)
    return `${counted(limit, 'slot')} ${limit === 1 ? 'keeps' : 'keep'} ${short95}; ${unqueued}.`
  return `${counted(short, 'slot')} would have kept ${short95}; ${unqueued}.`
}
