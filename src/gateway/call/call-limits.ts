import { estimatedTokens, reportedTokens } from '../../call/budget-tokens.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { reportsLimits } from '../limits/limit-headers.ts'
import { type LimitStake, noTokens } from '../limits/owned-limit.ts'
import type { MinuteLimits } from '../limits/minute-limits.ts'
import { type LimitedUse, type SeenLimits, metLimit } from '../limits/seen-limits.ts'
import { finalCodes } from './retry-rules.ts'
import type { RunningCall } from './running-call.ts'

/** The known limits of providers, and the limits that calls wait for. */
export interface ProviderLimits {
  readonly seenLimits: SeenLimits
  readonly minute: MinuteLimits
}

/** Notes the limits in an answer. Returns the provider's limit that the call met; null if it met none. */
export function noteLimits(
  call: RunningCall,
  { seenLimits, minute }: ProviderLimits,
  head: ResponseHead,
): string | null {
  if (!reportsLimits(head)) return null
  const { stake } = call
  const seenLimit = seenLimits.note(useOf(call), head, call.clock.wallTime())
  if (stake !== null) {
    if (seenLimit.isRefusal) minute.settle(stake, noTokens)
    minute.applySeen(stake, seenLimit)
  }
  return seenLimit.isRefusal ? metLimit(seenLimit) : null
}

/** The share of limits a minute of a call's next attempt; null without a limit. */
export function stakeOf(call: RunningCall, { minute }: ProviderLimits): LimitStake | null {
  if (!minute.isOn) return null
  const { record, tokensAsked, timeline } = call
  const { requestBytes } = record
  const sinceMs = timeline.bodyReadAt ?? timeline.receivedAt
  return minute.stakeOf(useOf(call), { caller: record, requestBytes, tokensAsked, sinceMs })
}

/** Replaces a call's estimate by its usage when it has ended. */
export function settleLimits(
  stake: LimitStake,
  { minute }: ProviderLimits,
  { record, modelThere }: RunningCall,
): void {
  const reported = reportedTokens(record)
  const input = record.inputTokens ?? estimatedTokens(record)
  const used = { input, output: record.outputTokens ?? 0 }
  minute.settle(stake, used)
  if (record.status === 429 && finalCodes.has(record.upstreamErrorCode ?? '')) minute.forgive(stake)
  if (reported > 0 && record.outcome === 'ok') minute.learn(modelThere, record.requestBytes, used)
}

function useOf({ record, modelThere, upstream }: RunningCall): LimitedUse {
  const { stripsCredentials } = upstream.endpoint
  return { upstream: upstream.name, model: modelThere, key: stripsCredentials ? null : record.keyFingerprint }
}
