import { type Outcome, isFailed } from '../../call/outcome.ts'

/** When the file gets the two records of a call. */
export type Keeping = 'always' | 'if_failed' | 'never'

/**
 * Applies the rule of `--raw-log-capture` to a call: `all`, `errors`, or `sample:1/10` for one call in ten. A sample
 * depends on the id alone, so every process decides the same.
 */
export function keepingOf(rule: string, callId: number): Keeping {
  if (rule === 'errors') return 'if_failed'
  const [, every = '1'] = rule.split('/')
  return spread(callId) * Number(every) < 1 ? 'always' : 'never'
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
