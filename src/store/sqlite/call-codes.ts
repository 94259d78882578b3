import type { CallType } from '../../call/call.ts'
import type { Outcome } from '../../call/call-record.ts'
import type { UsageSource } from '../../call/usage.ts'

/** How a closed set of words is stored: written into rows for ever, so a number is never given a new meaning. */
export type Codes<Word extends string> = Readonly<Record<Word, number>>

export const callTypeCodes: Codes<CallType> = { chat: 0, embedding: 1, rerank: 2, props: 3, other: 4 }

/** Ordered so that "failed" is one comparison, which the partial index can use. */
export const outcomeCodes: Codes<Outcome> = {
  ok: 0,
  client_disconnected: 1,
  upstream_error: 2,
  upstream_cut: 3,
  gateway_error: 4,
  refused: 5,
  interrupted: 6,
}

/** Outcomes from this code on are failures; equals `isFailed` of the vocabulary. */
export const firstFailedOutcome = 2

export const usageSourceCodes: Codes<UsageSource> = { none: 0, usage: 1, timings: 2 }
