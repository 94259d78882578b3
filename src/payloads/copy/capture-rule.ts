import { type Outcome, isFailed } from '../../call/outcome.ts'

/** Which calls the file gets: all, failed ones, or a share of all. */
export type CaptureRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'errors' }
  /** A sample: one call in `every`. */
  | { readonly kind: 'sample'; readonly every: number }

/** When the file gets the two records of a call. */
export type Keeping = 'always' | 'if_failed' | 'never'

/** `all`, `errors`, or `sample:1/10` for one call in ten; null for any other text. */
export function parseCaptureRule(text: string): CaptureRule | null {
  if (text === 'all' || text === 'errors') return { kind: text }
  const [, every] = /^sample:1\/(\d{1,9})$/.exec(text) ?? []
  return Number(every) >= 1 ? { kind: 'sample', every: Number(every) } : null
}

/** The text that {@link parseCaptureRule} reads. */
export function formatCaptureRule(rule: CaptureRule): string {
  return rule.kind === 'sample' ? `sample:1/${rule.every}` : rule.kind
}

/** Applies a rule to a call. A sample depends on the id alone, so every process decides the same. */
export function keepingOf(rule: CaptureRule, callId: number): Keeping {
  if (rule.kind === 'errors') return 'if_failed'
  return rule.kind === 'all' || spread(callId) * rule.every < 1 ? 'always' : 'never'
}

/** True if the file gets a call that ended with this outcome. */
export function isKept(keeping: Keeping, outcome: Outcome): boolean {
  return keeping === 'always' || (keeping === 'if_failed' && isFailed(outcome))
}

/** Spreads ids evenly over 0 to 1, also similar ids (the finalizer of MurmurHash3). */
function spread(id: number): number {
  let hash = Math.trunc(id % 2 ** 32) ^ Math.trunc(id / 2 ** 32)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
