import { estimatedTokens, reportedTokens } from '../../call/budget-tokens.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { type LimitStake, noTokens } from '../limits/owned-limit.ts'
import type { MinuteLimits } from '../limits/minute-limits.ts'
import { type LimitedUse, type SeenLimits, metLimit } from '../limits/seen-limits.ts'
import { finalCodes } from './final-refusal.ts'
import type { RunningCall } from './running-call.ts'

/** The known limits of providers, and the limits that calls wait for. */
export interface ProviderLimits {
  readonly seen: SeenLimits
  readonly kept: MinuteLimits
}

/** Notes the limits in an answer. Returns the provider's limit that the call met; null if it met none. */
export function noteLimits(
  call: RunningCall,
  { seen, kept }: ProviderLimits,
  head: ResponseHead,
  stake: LimitStake | null,
): string | null {
  const seenLimit = seen.note(useOf(call), head, call.clock.wallTime())
  if (stake !== null) {
    if (seenLimit.isRefusal) kept.settle(stake, noTokens)
    kept.applySeen(stake, seenLimit)
  }
  return seenLimit.isRefusal ? metLimit(seenLimit) : null
}

/** The share of limits a minute of a call's next attempt; null without a limit. */
export function stakeOf(call: RunningCall, { kept }: ProviderLimits): LimitStake | null {
  if (!kept.isOn) return null
  const { record, tokensAsked } = call
  return kept.stakeOf(useOf(call), { caller: record, requestBytes: record.requestBytes, tokensAsked })
}

/** Counts an ended call's usage in place of its estimate. */
export function settleLimits(
  stake: LimitStake,
  { kept }: ProviderLimits,
  record: Readonly<CallRecord>,
): void {
  const reported = reportedTokens(record)
  const input = record.inputTokens ?? estimatedTokens(record)
  const used = { input, output: record.outputTokens ?? 0 }
  kept.settle(stake, used)
  if (record.status === 429 && finalCodes.has(record.upstreamErrorCode ?? '')) kept.forgive(stake)
  if (reported > 0 && record.outcome === 'ok') kept.learn(record.model, record.requestBytes, used)
}

function useOf({ record, upstream, endpoint, usesGatewayKey }: RunningCall): LimitedUse {
  const isOwnKey = usesGatewayKey || endpoint.stripsCredentials
  return { upstream: upstream.name, model: record.model, key: isOwnKey ? null : record.keyFingerprint }
}
