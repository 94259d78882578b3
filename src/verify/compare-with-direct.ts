import type { Finding } from './compare-exchanges.ts'
import { endToEnd, type SeenAnswer } from './seen-exchange.ts'
import { timeToFirstTokenMs } from './time-to-first-token.ts'

/** Added to every answer that goes through the gateway. */
const added: ReadonlySet<string> = new Set(['x-tokenweir-call-id', 'server-timing'])

/**
 * Compares two calls, of which one went past the gateway: as far as two answers to the same question can be
 * compared at all.
 */
export function compareWithDirect(
  direct: SeenAnswer,
  through: SeenAnswer,
): { readonly findings: readonly Finding[]; readonly notes: readonly string[] } {
  const names = { direct: namesOf(direct), through: namesOf(through) }
  const missing = names.direct.filter((name) => !names.through.includes(name))
  const extra = names.through.filter((name) => !names.direct.includes(name) && !added.has(name))
  const ttft = [timeToFirstTokenMs(direct), timeToFirstTokenMs(through)].map(shownMs)
  return {
    findings: [
      {
        what: 'status, called directly',
        isSame: direct.status === through.status,
        detail: `${direct.status}, and ${through.status} through the gateway`,
      },
      {
        what: 'header names, called directly',
        isSame: missing.length + extra.length === 0,
        detail:
          missing.length + extra.length === 0
            ? `the same ${names.direct.length}`
            : `only directly: ${listed(missing)}; only through the gateway: ${listed(extra)}`,
      },
    ],
    notes: [`time to first token: ${ttft[0]} directly, ${ttft[1]} through the gateway`],
  }
}

function namesOf(answer: SeenAnswer): readonly string[] {
  return [...new Set(endToEnd(answer.headers).map(([name]) => name.toLowerCase()))].sort()
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function shownMs(ms: number | null): string {
  return ms === null ? 'none' : `${ms.toFixed(1)} ms`
}
