import type { PriceEntry, RepriceJob, RepriceResult } from '../../src/api/costs.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { act } from '../data/dashboard-api.ts'
import type { PriceBody } from './price-form.ts'

/** Which calls are priced anew. */
export interface RepriceQuestion extends Bounds {
  readonly onlyUnpriced: boolean
  /** Null for all. */
  readonly model: string | null
  readonly zone: string
}

/** What can be done about prices. All reject with `Trouble`. */
export const costActions = {
  /** Answers when it is under way: `GET /api/costs` tells the rest. */
  sync: (): Promise<unknown> => act('POST', '/api/costs/sync'),
  setPrice: (name: string, body: PriceBody): Promise<PriceEntry> =>
    act('PUT', `/api/costs/overrides/${encodeURIComponent(name)}`, body),
  removePrice: (name: string): Promise<unknown> =>
    act('DELETE', `/api/costs/overrides/${encodeURIComponent(name)}`),
  /** Only looks. */
  previewReprice: (question: RepriceQuestion): Promise<RepriceResult> =>
    act('POST', '/api/costs/reprice', { ...bodyOf(question), dry_run: true }),
  /** Answers when it is under way: the topic `jobs` tells the rest. */
  reprice: (question: RepriceQuestion): Promise<RepriceJob> =>
    act('POST', '/api/costs/reprice', { ...bodyOf(question), dry_run: false }),
} as const

function bodyOf({
  fromMs,
  toMs,
  onlyUnpriced,
  model,
  zone,
}: RepriceQuestion): Readonly<Record<string, unknown>> {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    ...(model === null ? {} : { model }),
    ...(onlyUnpriced ? { only_unpriced: true } : {}),
    tz: zone,
  }
}
