import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { eventually } from './eventually.ts'
import { requestBytes } from './exchange.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { complaintsOf, untilIdle, untilRecorded } from './gateway-state.ts'
import { expectNoGrowth, heldBy, smallHeap } from './hostile-rounds.ts'
import { inParallel } from './in-parallel.ts'
import { openRawClient } from './raw-client.ts'
import { type RawResponse, parseRawResponse } from './raw-response.ts'
import { readCalls } from './recorded-calls.ts'
import { type ReplyStep, cut, reset, write } from './reply-step.ts'
import { chunkFrame, sseEvent } from './response-bytes.ts'
import { startSimulatedUpstream } from './simulated-upstream.ts'

/** One kind of what an upstream sends in place of, or as, an answer. */
interface AnswerKind {
  readonly name: string
  readonly bytes: Buffer
  /** The body that its client has once all came; null where nobody can have a whole one. */
  readonly body: Buffer | null
  /** The end of the connection is that of the answer. */
  readonly untilClose: boolean
}

/** Model and session of the calls that are answered so. */
export const brokenModel = 'broken-model'
export const brokenSession = 'broken'

type Manner = 'fin' | 'reset' | 'stays'

/** An answer that is broken off after so many bytes. */
export interface BrokenAnswer {
  readonly kind: AnswerKind
  readonly at: number
  readonly manner: Manner
}

const json = JSON.stringify({
  choices: [{ message: { content: 'wörd' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})
const usageEvent = sseEvent({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } })
const events =
  sseEvent({ choices: [{ index: 0, delta: { content: 'wörd' } }] }) + usageEvent + sseEvent('[DONE]')
/** A gateway that has not learned yet that the upstream reports usage unasked takes the usage event out. */
const eventsWithoutUsage = Buffer.from(events.replace(usageEvent, ''))

function head(status: number | string, ...lines: readonly string[]): string {
  return [`HTTP/1.1 ${status} X`, ...lines, '', ''].join('\r\n')
}

function chunks(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text)
  const middle = bytes.length >> 1
  return Buffer.concat([chunkFrame(bytes.subarray(0, middle)), chunkFrame(bytes.subarray(middle))])
}

function bytesOf(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)))
}

function kind(
  name: string,
  bytes: Buffer | string,
  body: Buffer | string | null = null,
  untilClose = false,
): AnswerKind {
  return { name, bytes: Buffer.from(bytes), body: body === null ? null : Buffer.from(body), untilClose }
}

const chunked = 'Transfer-Encoding: chunked'
const length = (text: string | Buffer): string => `Content-Length: ${Buffer.byteLength(text)}`
const stream = 'Content-Type: text/event-stream'
const zipped = gzipSync(events)
const spoilt = Buffer.from(zipped).fill(0x55, 12)
const short = zipped.subarray(0, -9)
const ofJson = 'Content-Type: application/json'
const oneOk = bytesOf(head(200, ofJson, length(json)), json)

const kinds: readonly AnswerKind[] = [
  kind('a length', oneOk, json),
  kind('chunks of JSON', bytesOf(head(200, ofJson, chunked), chunks(json), '0\r\n\r\n'), json),
  kind('a stream', bytesOf(head(200, stream, chunked), chunks(events), '0\r\n\r\n'), events),
  kind('until the close', bytesOf(head(200, stream), events), events, true),
  kind(
    'trailers',
    bytesOf(head(200, stream, chunked), chunks(events), '0\r\nX-T: 1\r\nY-T: 2\r\n\r\n'),
    events,
  ),
  kind('extensions', bytesOf(head(200, stream, chunked), chunkFrame(events, ';a=b'), '0;c\r\n\r\n'), events),
  kind(
    'gzip',
    bytesOf(head(200, stream, 'Content-Encoding: gzip', chunked), chunks(zipped), '0\r\n\r\n'),
    zipped,
  ),
  kind(
    'gzip that is none',
    bytesOf(head(200, stream, 'Content-Encoding: gzip', length(spoilt)), spoilt),
    spoilt,
  ),
  kind('gzip cut short', bytesOf(head(200, stream, 'Content-Encoding: gzip', length(short)), short), short),
  kind(
    'an error',
    bytesOf(head(500, ofJson, chunked), chunks('{"error":{"message":"no"}}'), '0\r\n\r\n'),
    '{"error":{"message":"no"}}',
  ),
  kind('a 429', bytesOf(head(429, 'Retry-After: 0', length('{}')), '{}'), '{}'),
  kind(
    'an error in a stream',
    bytesOf(head(200, stream, chunked), chunks('data: {"error":{"code":1}}\n\n'), '0\r\n\r\n'),
    'data: {"error":{"code":1}}\n\n',
  ),
  kind('interim answers', bytesOf(head(100), head(103, 'Link: <a>'), head(102), oneOk), json),
  kind('an answer and another', bytesOf(oneOk, oneOk), json),
  kind('an answer and noise', bytesOf(oneOk, '\r\n\0noise'), json),
  kind('no content', bytesOf(head(204), 'more'), ''),
  kind('not modified', bytesOf(head(304, 'Content-Length: 7'), ''), ''),
  kind('an empty body', head(200, 'Content-Length: 0'), ''),
  kind('a bad chunk size', bytesOf(head(200, stream, chunked), chunks(events), 'xyz\r\n')),
  kind('a huge chunk size', bytesOf(head(200, stream, chunked), 'fffffffffffffffff\r\n', events)),
  kind('a chunk longer than it says', bytesOf(head(200, stream, chunked), '2\r\n', events)),
  kind('a negative length', bytesOf(head(200, 'Content-Length: -5'), json)),
  kind('two lengths', bytesOf(head(200, 'Content-Length: 5', 'Content-Length: 6'), json)),
  kind('a length beside chunks', bytesOf(head(200, length(json), chunked), chunks(json), '0\r\n\r\n')),
  kind('a status of two digits', head('20', 'Content-Length: 0')),
  kind('a NUL in a header', head(200, 'X: a\0b', 'Content-Length: 0')),
  kind('a header without a colon', head(200, 'nocolon', 'Content-Length: 0')),
  kind('an upgrade', head(101, 'Connection: upgrade', 'Upgrade: websocket')),
  kind('another protocol', 'SSH-2.0-OpenSSH_9.9\r\n\0\0\0\u0001'),
  kind('noise', Buffer.from(Array.from({ length: 64 }, (_, i) => (i * 151 + 7) % 256))),
  kind('nothing', ''),
]

/** So many broken answers: each kind at each of its bytes, by FIN and by RST, and from the start again. */
export function* brokenAnswers(count: number): Generator<BrokenAnswer> {
  // A stride that is prime to all, so that few of them meet all kinds and moments.
  const all = kinds.flatMap((each) => {
    const broken = Array.from({ length: each.bytes.length + 1 }, (_, at) =>
      (['fin', 'reset'] as const).map((manner) => ({ kind: each, at, manner })),
    ).flat()
    const stays = { kind: each, at: each.bytes.length, manner: 'stays' as const }
    return each.body === null || each.untilClose ? broken : [...broken, stays, stays, stays]
  })
  for (let i = 0; i < count; i++) yield all[(i * 7919) % all.length]!
}

export function replyTo({ kind: { bytes }, at, manner }: BrokenAnswer): ReplyStep[] {
  const sent = write(bytes.subarray(0, at))
  if (manner === 'stays') return [sent]
  return [sent, manner === 'fin' ? cut() : reset()]
}

/** What a client has of a call: the last answer that is no interim one; null if it got none. */
export async function answerTo(port: number, index: number): Promise<RawResponse | null> {
  await using client = await openRawClient(port)
  const body = JSON.stringify({ model: brokenModel, stream: true, messages: [] })
  const headers = [['Connection', 'close'] as const, ['X-Tokenweir-Session', brokenSession] as const]
  await client.send(requestBytes('POST', `/v1/chat/completions?broken=${index}`, { body, headers }))
  await client.waitForServerEnd()
  let bytes = client.received
  for (;;) {
    const answer = parseRawResponse(bytes, 'POST')
    if (answer === undefined) return null
    if (answer.status >= 200) {
      // Where the close is the end, a reset in its place is none.
      const isEnd = answer.framing === 'until-close' && client.serverEnd === 'fin'
      return { ...answer, complete: answer.complete || isEnd }
    }
    bytes = bytes.subarray(answer.byteLength)
  }
}

/** What is wrong with an answer that came of a broken one; null if nothing is. */
export function faultOf(
  { kind: { name, body, untilClose }, at, manner }: BrokenAnswer,
  answer: RawResponse | null,
): string | null {
  const what = `${name}, ${manner} at ${at}`
  if (answer === null) return `${what}: no answer`
  if (!answer.complete || answer.header('x-tokenweir-error') !== undefined) return null
  if (untilClose && manner === 'fin') return null
  const isWhole =
    body?.equals(answer.body) === true ||
    (body?.toString() === events && eventsWithoutUsage.equals(answer.body))
  return isWhole ? null : `${what}: looks finished with ${answer.body.length} bytes`
}

/** Plays so many broken answers to calls of a gateway of its own; fails where it does not stand them, or tells in words. */
export async function attackByAnswers(count: number): Promise<string> {
  const all = [...brokenAnswers(count)]
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => replyTo(all[Number(/broken=(\d+)/.exec(target)?.[1])]!),
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '16', '--slot-cooldown-ms', '0'],
    nodeArgs: smallHeap,
  })
  const answers: (RawResponse | null)[] = []
  const playUntil = async (end: number): Promise<void> => {
    const from = answers.length
    const more = await inParallel(all.slice(from, end), 16, (_, i) => answerTo(gateway.port, from + i))
    answers.push(...more)
    await untilIdle(gateway)
    await untilRecorded(gateway, end)
    await eventually('its connections are closed', () =>
      upstream.connections.every(({ end: by }) => by !== undefined),
    )
  }
  await playUntil(Math.ceil(count / 3))
  const before = heldBy(gateway.pid)
  await playUntil(count)
  assert.equal((await gateway.health())['pid'], gateway.pid)
  const grownMb = await expectNoGrowth(gateway.pid, before)
  assert.deepEqual(
    all.flatMap((broken, i) => faultOf(broken, answers[i] ?? null) ?? []),
    [],
  )
  const rows = readCalls(gateway.databaseFile)
  assert.equal(rows.length, count, 'each call has one row')
  const byId = new Map(rows.map((row) => [row.id, row]))
  const lies = answers.flatMap((answer, i) => {
    const row = byId.get(answer?.header('x-tokenweir-call-id') ?? '')
    const { kind: of, manner, at } = all[i]!
    if (row === undefined) return [`${of.name}, ${manner} at ${at}: no row`]
    return row.outcome === 'ok' && answer?.complete !== true ? [`${of.name}, ${manner} at ${at}: is ok`] : []
  })
  assert.deepEqual(lies, [])
  assert.equal(complaintsOf(gateway), '')
  return (
    `${count} answers of ${kinds.length} kinds, broken off at each byte: alive, all slots back, ` +
    `each call one row, none looks finished, memory ${grownMb.toFixed(0)} MB more`
  )
}
