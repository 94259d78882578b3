import { addedToAnswers, type Finding } from './compare-exchanges.ts'
import { endToEnd, type SeenAnswer } from './seen-exchange.ts'
import { timeToFirstTokenMs } from './time-to-first-token.ts'

/**
 * Compares calls past the gateway with one through it, as far as answers to the same question can be compared at all; and
 * how long each way took, by the middle one of several, because the first through a gateway is slower than the others.
 */
export function compareWithDirect(
  beside: { readonly direct: readonly SeenAnswer[]; readonly through: readonly SeenAnswer[] },
  through: SeenAnswer,
): { readonly findings: readonly Finding[]; readonly note: string } {
  const [direct] = beside.direct as [SeenAnswer]
  const [directly, throughIt] = [namesOf(direct), namesOf(through)]
  const missing = directly.difference(throughIt)
  const extra = throughIt.difference(directly).difference(new Set(addedToAnswers))
  const isSame = missing.size + extra.size === 0
  const ttft = [beside.direct, beside.through].map(medianTtft)
  const count = beside.direct.length
  const of = count > 1 ? ` (medians of ${count} calls)` : ''
  return {
    findings: [
      {
        what: 'status, called directly',
        isSame: direct.status === through.status,
        detail: `${direct.status}, and ${through.status} through the gateway`,
      },
      {
        what: 'header names, called directly',
        isSame,
        detail: isSame
          ? `the same ${directly.size}`
          : `only directly: ${listed(missing)}; only through the gateway: ${listed(extra)}`,
      },
    ],
    note: `time to first token: ${ttft[0]} directly, ${ttft[1]} through the gateway${of}`,
  }
}

function namesOf(answer: SeenAnswer): ReadonlySet<string> {
  return new Set(endToEnd(answer.headers).map(([name]) => name.toLowerCase()))
}

function listed(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ') || 'none'
}

function medianTtft(answers: readonly SeenAnswer[]): string {
  const times = answers.map(timeToFirstTokenMs).filter((ms) => ms !== null)
  const middle = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]
  return middle === undefined ? 'none' : `${middle.toFixed(1)} ms`
}
