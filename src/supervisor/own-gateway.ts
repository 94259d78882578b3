import { hostname } from 'node:os'
import type { GatewaysReport } from '../api/gateways.ts'
import type { ProcessStatus } from '../api/process-status.ts'

/** The report for a gateway that shares no slots. `nowMs` is in ms since the Unix epoch. */
export function ownGateway(
  { instance, health }: Pick<ProcessStatus, 'instance' | 'health'>,
  nowMs: number,
): GatewaysReport {
  const at = { problem: null, as_of: new Date(nowMs).toISOString(), copy: null }
  if (instance === null || health === null) return { gateways: [], max_concurrent: null, ...at }
  const { active, queued: waiting, max_concurrent } = health.rate_limiter
  const facts = { instance, host: hostname(), version: health.version, active, waiting, held: max_concurrent }
  const alone = { state: 'ok', away_since: null, rows_behind: 0, lease_left_s: null, is_own: true } as const
  return { gateways: [{ ...facts, ...alone, can_release: false }], max_concurrent, ...at }
}
