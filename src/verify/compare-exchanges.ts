import { isDeepStrictEqual } from 'node:util'
import { isUsageEvent, withoutBlock } from './usage-block.ts'
import { type AnsweredExchange, endToEnd, type SeenAnswer, type SeenRequest } from './seen-exchange.ts'

/** What came of one comparison. */
export interface Finding {
  /** What was compared: `answer body`. */
  readonly what: string
  readonly isSame: boolean
  /** What is the same, and which named differences there are; or where it differs. */
  readonly detail: string
}

/** Ways in which the wish for usage may stand in a request's bytes, and what stood there before. */
const wishes: readonly (readonly [piece: string, before: string])[] = [
  ['"stream_options":{"include_usage":true},', ''],
  ['"include_usage":true,', ''],
  ['"include_usage":true', ''],
  ['{"include_usage":true}', 'null'],
]
/** Added to every answer that goes through the gateway, in this order. */
export const addedToAnswers = ['x-tokenweir-call-id', 'server-timing']

type Outcome = Omit<Finding, 'what'>

/**
 * Compares what the client sent and got with what the upstream got and sent. Only the differences that
 * docs/http.md names are allowed, and each that is met is told.
 */
export function compareExchanges(
  { request: sent, answer: got }: AnsweredExchange,
  { request: received, answer: answered }: AnsweredExchange,
  expectedTarget: string,
): readonly Finding[] {
  const wish = wishIn(sent.body, received.body)
  const outcomes: Readonly<Record<string, Outcome>> = {
    'request line': compareTexts(`${sent.method} ${expectedTarget}`, `${received.method} ${received.target}`),
    'request headers': compareRequestHeaders(sent, received, wish !== null),
    'request body':
      wish === null
        ? compareBytes(sent.body, received.body)
        : same(`${sent.body.length} bytes as they were sent; ${wish} spliced in`),
    status: compareTexts(`${answered.status} ${answered.statusText}`, `${got.status} ${got.statusText}`),
    'answer headers': compareAnswerHeaders(answered, got),
    'answer body': compareAnswerBodies(answered.body, got.body, wish !== null),
    ending: compareTexts(endings[`${answered.isComplete}`], endings[`${got.isComplete}`]),
  }
  return Object.entries(outcomes).map(([what, { isSame, detail }]) => ({ what, isSame, detail }))
}

function same(detail: string): Outcome {
  return { isSame: true, detail }
}

function different(detail: string): Outcome {
  return { isSame: false, detail }
}

const endings = { true: 'complete', false: 'broken off' }

function compareTexts(expected: string, got: string): Outcome {
  return expected === got ? same(got) : different(`expected ${expected}; got ${got}`)
}

function compareRequestHeaders(sent: SeenRequest, received: SeenRequest, isAsked: boolean): Outcome {
  const expected = endToEnd(sent.headers).filter(([name]) => !name.toLowerCase().startsWith('x-tokenweir-'))
  const all = endToEnd(received.headers)
  const got = all.filter(([name, value]) => !(name === 'Via' && value.startsWith('1.1 tokenweir-')))
  const named = got.length < all.length ? ['Via added'] : []
  if (!isAsked) return comparePairs(expected, got, named)
  return comparePairs(withIdentity(expected), got, [...named, 'accept-encoding is identity'])
}

type Pairs = ReturnType<typeof endToEnd>

/** With one coding, in the place of the first. */
function withIdentity(pairs: Pairs): Pairs {
  const isCoding = ([name]: Pairs[number]): boolean => name.toLowerCase() === 'accept-encoding'
  const first = pairs.find(isCoding)
  if (first === undefined) return [...pairs, ['accept-encoding', 'identity']]
  return pairs
    .filter((pair) => pair === first || !isCoding(pair))
    .map((pair) => (pair === first ? [pair[0], 'identity'] : pair))
}

function compareAnswerHeaders(sent: SeenAnswer, got: SeenAnswer): Outcome {
  const pairs = endToEnd(got.headers)
  const added = pairs.slice(-addedToAnswers.length)
  const names = addedToAnswers.join(' and ')
  if (added.map(([name]) => name).join() !== addedToAnswers.join()) {
    return different(`${names} are not its last ones`)
  }
  return comparePairs(endToEnd(sent.headers), pairs.slice(0, -addedToAnswers.length), [`${names} added`])
}

/** Order, spelling and number count. */
function comparePairs(expected: Pairs, got: Pairs, named: readonly string[]): Outcome {
  const longer = expected.length > got.length ? expected : got
  const i = longer.findIndex((_, at) => !isDeepStrictEqual(expected[at], got[at]))
  if (i >= 0) return different(`number ${i + 1}: expected ${shown(expected[i])}; got ${shown(got[i])}`)
  return same([`${got.length} as they were sent`, ...named].join('; '))
}

/** The name alone: a value may be a secret. */
function shown(pair: Pairs[number] | undefined): string {
  return pair === undefined ? 'nothing' : `${pair[0]} with ${pair[1].length} characters`
}

function wishIn(sent: Buffer, received: Buffer): string | null {
  for (const [piece, before] of wishes) {
    for (let at = received.indexOf(piece); at >= 0; at = received.indexOf(piece, at + 1)) {
      const rest = [received.subarray(0, at), Buffer.from(before), received.subarray(at + piece.length)]
      if (Buffer.concat(rest).equals(sent)) return piece
    }
  }
  return null
}

function compareAnswerBodies(sent: Buffer, got: Buffer, isAsked: boolean): Outcome {
  const block = isAsked && !sent.equals(got) ? withoutBlock(sent, got) : null
  if (block === null || !isUsageEvent(block)) return compareBytes(sent, got)
  return same(`${got.length} bytes as they were sent; the usage event of ${block.length} bytes taken out`)
}

function compareBytes(expected: Buffer, got: Buffer): Outcome {
  if (expected.equals(got)) return same(`${got.length} bytes as they were sent`)
  const differs = expected.findIndex((byte, i) => byte !== got[i])
  const at = differs < 0 ? expected.length : differs
  return different(
    `${expected.length} bytes were sent, ${got.length} came; the first that differs is byte ${at}`,
  )
}
