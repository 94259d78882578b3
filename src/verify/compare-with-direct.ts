import { addedToAnswers, type Finding } from './compare-exchanges.ts'
import { endToEnd, type SeenAnswer } from './seen-exchange.ts'
import { timeToFirstTokenMs } from './time-to-first-token.ts'

/** Calls past the gateway, and as many through it, made in turn; at least one. */
export interface CallsBeside {
  readonly direct: readonly SeenAnswer[]
  readonly through: readonly SeenAnswer[]
}

/**
 * Compares calls past the gateway with one through it, as far as answers to the same question can be compared at all; and
 * how long each way took, by the middle one of several, because the first through a gateway is slower than the others.
 */
export function compareWithDirect(
  beside: CallsBeside,
  through: SeenAnswer,
): { readonly findings: readonly Finding[]; readonly notes: readonly string[] } {
  const [direct] = beside.direct as [SeenAnswer]
  const names = { direct: namesOf(direct), through: namesOf(through) }
  const missing = names.direct.filter((name) => !names.through.includes(name))
  const extra = names.through.filter((name) => !names.direct.includes(name) && !addedToAnswers.includes(name))
  const isSame = missing.length + extra.length === 0
  const ttft = [beside.direct, beside.through].map(medianTtft)
  const count = beside.direct.length
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
          ? `the same ${names.direct.length}`
          : `only directly: ${listed(missing)}; only through the gateway: ${listed(extra)}`,
      },
    ],
    notes: [
      `time to first token: ${ttft[0]} directly, ${ttft[1]} through the gateway` +
        (count > 1 ? ` (medians of ${count} calls)` : ''),
    ],
  }
}

function namesOf(answer: SeenAnswer): readonly string[] {
  return [...new Set(endToEnd(answer.headers).map(([name]) => name.toLowerCase()))].sort()
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function medianTtft(answers: readonly SeenAnswer[]): string {
  const times = answers.map(timeToFirstTokenMs).filter((ms) => ms !== null)
  const middle = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]
  return middle === undefined ? 'none' : `${middle.toFixed(1)} ms`
}
