import { isFailed, type Outcome } from '../../call/outcome.ts'

/** The calls that reach the file: `all`, only those that `errors` accepts, or a share of all. */
export type CaptureRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'errors' }
  /** One call in `every`. */
  | { readonly kind: 'sample'; readonly every: number }

/** `all`, `errors`, or `sample:1/10` for one call in ten; null where it is none of them. */
export function parseCaptureRule(text: string): CaptureRule | null {
  if (text === 'all' || text === 'errors') return { kind: text }
  const [, every] = /^sample:1\/(\d{1,9})$/.exec(text) ?? []
  return Number(every) >= 1 ? { kind: 'sample', every: Number(every) } : null
}

/** As a person writes it. */
export function formatCaptureRule(rule: CaptureRule): string {
  return rule.kind === 'sample' ? `sample:1/${rule.every}` : rule.kind
}

/** True if the file may get this call, as far as its id tells: the same for both of its records, in any process. */
export function isSampled(rule: CaptureRule, callId: number): boolean {
  return rule.kind !== 'sample' || spread(callId) * rule.every < 1
}

/** True if the file gets a call that ended so. */
export function isCaptured(rule: CaptureRule, outcome: Outcome): boolean {
  return rule.kind !== 'errors' || isFailed(outcome)
}

/** Evenly spread over 0 to 1, however much two ids are alike (the finalizer of MurmurHash3). */
function spread(id: number): number {
  let hash = Math.trunc(id % 2 ** 32) ^ Math.trunc(id / 2 ** 32)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
