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

/**
 * Compares what the client sent and got with what the upstream got and sent. Only the differences that
 * docs/http.md names are allowed, and each that is met is told.
 */
export function compareExchanges(
  client: AnsweredExchange,
  upstream: AnsweredExchange,
  expectedTarget: string,
): readonly Finding[] {
  const asked = wishIn(client.request.body, upstream.request.body)
  return [
    same(
      'request line',
      `${client.request.method} ${expectedTarget}`,
      `${upstream.request.method} ${upstream.request.target}`,
    ),
    compareRequestHeaders(client.request, upstream.request, asked !== null),
    compareRequestBodies(client.request.body, upstream.request.body, asked),
    same('status', statusOf(upstream.answer), statusOf(client.answer)),
    compareAnswerHeaders(upstream.answer, client.answer),
    compareAnswerBodies(upstream.answer.body, client.answer.body, asked !== null),
    same('ending', endingOf(upstream.answer), endingOf(client.answer)),
  ]
}

function statusOf({ status, statusText }: SeenAnswer): string {
  return `${status} ${statusText}`
}

function endingOf({ isComplete }: SeenAnswer): string {
  return isComplete ? 'complete' : 'broken off'
}

function same(what: string, expected: string, got: string): Finding {
  return expected === got
    ? { what, isSame: true, detail: got }
    : { what, isSame: false, detail: `expected ${expected}; got ${got}` }
}

function compareRequestHeaders(sent: SeenRequest, received: SeenRequest, isAsked: boolean): Finding {
  const named: string[] = []
  const expected = endToEnd(sent.headers).filter(([name]) => !name.toLowerCase().startsWith('x-tokenweir-'))
  const got = endToEnd(received.headers).filter(([name, value]) => {
    const isOwn = name === 'Via' && value.startsWith('1.1 tokenweir-')
    if (isOwn) named.push('Via added')
    return !isOwn
  })
  if (isAsked) named.push('accept-encoding is identity')
  const what = 'request headers'
  return comparePairs(what, isAsked ? withIdentity(expected) : expected, got, named)
}

type Pairs = readonly (readonly [name: string, value: string])[]

function withIdentity(pairs: Pairs): Pairs {
  const isCoding = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'accept-encoding'
  const first = pairs.findIndex(isCoding)
  if (first < 0) return [...pairs, ['accept-encoding', 'identity']]
  return pairs.flatMap((pair, i): Pairs => {
    if (i === first) return [[pair[0], 'identity']]
    return isCoding(pair) ? [] : [pair]
  })
}

function compareAnswerHeaders(sent: SeenAnswer, got: SeenAnswer): Finding {
  const what = 'answer headers'
  const pairs = endToEnd(got.headers)
  const added = pairs.slice(-addedToAnswers.length)
  if (added.map(([name]) => name).join() !== addedToAnswers.join()) {
    return { what, isSame: false, detail: `${addedToAnswers.join(' and ')} are not its last ones` }
  }
  const rest = pairs.slice(0, -addedToAnswers.length)
  return comparePairs(what, endToEnd(sent.headers), rest, [`${addedToAnswers.join(' and ')} added`])
}

/** Order, spelling and number count. */
function comparePairs(what: string, expected: Pairs, got: Pairs, named: readonly string[]): Finding {
  const at = expected.findIndex(([name, value], i) => got[i]?.[0] !== name || got[i]?.[1] !== value)
  if (at >= 0 || got.length > expected.length) {
    const i = at >= 0 ? at : expected.length
    const detail = `number ${i + 1}: expected ${shown(expected[i])}; got ${shown(got[i])}`
    return { what, isSame: false, detail }
  }
  return { what, isSame: true, detail: [`${got.length} as they were sent`, ...named].join('; ') }
}

/** The name alone: a value may be a secret. */
function shown(pair: readonly [string, string] | undefined): string {
  return pair === undefined ? 'nothing' : `${pair[0]} with ${pair[1].length} characters`
}

function wishIn(sent: Buffer, received: Buffer): string | null {
  for (const [piece, before] of wishes) {
    const at = firstDifference(sent, received)
    // Around the difference: what is inserted may begin with what stands behind it, too.
    for (let from = at; from >= 0 && from >= at - piece.length; from--) {
      if (!received.subarray(from, from + piece.length).equals(Buffer.from(piece))) continue
      const rest = [received.subarray(0, from), Buffer.from(before), received.subarray(from + piece.length)]
      if (Buffer.concat(rest).equals(sent)) return piece
    }
  }
  return null
}

function compareRequestBodies(sent: Buffer, received: Buffer, wish: string | null): Finding {
  const what = 'request body'
  if (wish !== null) {
    return { what, isSame: true, detail: `${sent.length} bytes as they were sent; ${wish} spliced in` }
  }
  return compareBytes(what, sent, received)
}

function compareAnswerBodies(sent: Buffer, got: Buffer, isAsked: boolean): Finding {
  const what = 'answer body'
  if (isAsked && !sent.equals(got)) {
    const block = withoutBlock(sent, got)
    if (block !== null && isUsageEvent(block)) {
      const detail = `${got.length} bytes as they were sent; the usage event of ${block.length} bytes taken out`
      return { what, isSame: true, detail }
    }
  }
  return compareBytes(what, sent, got)
}

function compareBytes(what: string, expected: Buffer, got: Buffer): Finding {
  if (expected.equals(got)) return { what, isSame: true, detail: `${got.length} bytes as they were sent` }
  const at = firstDifference(expected, got)
  const detail = `${expected.length} bytes were sent, ${got.length} came; the first that differs is byte ${at}`
  return { what, isSame: false, detail }
}

function firstDifference(a: Buffer, b: Buffer): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return i
  return end
}
