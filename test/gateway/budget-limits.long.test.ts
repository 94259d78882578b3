/** A limit limits across kills, restarts, a locked database and clients that leave; `npm run test:faults` does it at length. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { timesCount } from '../support/assert-within.ts'
import { exchange, requestBytes, whenOpen } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth, untilIdle } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { stall, until, wait, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from '../supervisor/workplace.ts'

const chat = '/v1/chat/completions'
const rejecting = ['--budget-action', 'reject', '--slot-cooldown-ms', '0']
const limit = 1000

test('after kill -9 nothing is let through before it is known what was used', async () => {
  const starts = timesCount ? 30 : 1
  const figures = await startsBeyondTheLimit(starts, 40)
  assert.deepEqual(figures, { starts, refused: 40 * starts, admitted: 0 })
})

test('with a locked database calls wait, /health says why, and the limit holds once it is read', async () => {
  const clients = timesCount ? 40 : 0
  const { early, admitted, late, known, warnings } = await startWithLockedDatabase(clients)
  assert.deepEqual(
    { early, admitted, late, known },
    {
      early: Array.from({ length: clients }, () => '503 budget_unknown'),
      admitted: 0,
      late: '429 token_budget_exceeded',
      known: false,
    },
  )
  assert.ok(warnings.includes('budget_unknown'))
})

test('gateways that replace each other before the past was read count each call once', async () => {
  const { counted, used, knewBefore } = await restartsWithLockedDatabase()
  assert.deepEqual([counted, knewBefore], [used, false])
})

test('what a call in flight may use stays reserved across restarts', async () => {
  const [restarts, callsEach] = timesCount ? [10, 10] : [2, 3]
  const figures = await restartsBesideAReservation(restarts, callsEach)
  assert.deepEqual(figures, { restarts, refused: restarts * callsEach, admitted: 0, isFreed: true })
})

test('streams that are left before their usage count what passed, after a restart too', async () => {
  const [clients, tokens, most] = timesCount ? [8, 20_000, 1.1] : [4, 2000, 1.15]
  const { streamed, limit: allowed, inRows, isKept } = await streamsThatAreLeft(clients, tokens)
  assert.ok(streamed > 0.9 * allowed && streamed < most * allowed, `${streamed} of ${allowed}`)
  assert.deepEqual([inRows, isKept], [0, true])
})

/** What became of calls to a gateway whose limit is used up. */
interface StartFigures {
  readonly starts: number
  readonly refused: number
  /** Calls that reached the upstream beyond the limit: none must. */
  readonly admitted: number
}

/** Kills a gateway whose limit is used up and starts it again, while clients wait at its port. */
async function startsBeyondTheLimit(starts: number, clients: number): Promise<StartFigures> {
  await using upstream = await startSimulatedUpstream({ reply: () => answerOf(10) })
  await using dir = await makeTempDir()
  const port = await freePort()
  await useUp(upstream, dir.path)
  let refused = 0
  for (let at = 0; at < starts; at++) {
    const waiting = Array.from({ length: clients }, () => whenOpen(() => call(port)))
    await using gateway = await start(upstream, dir.path, '--port', String(port))
    const answers = (await Promise.all(waiting)).map(answered)
    refused += answers.filter((answer) => answer === '429 token_budget_exceeded').length
    await gateway.kill9()
  }
  return { starts, refused, admitted: upstream.requests.length - 1 }
}

/** What happened while the database was locked from the start on. */
interface LockedFigures {
  /** What calls were answered that were not ready to wait for the lock's end. */
  readonly early: readonly string[]
  readonly retryAfter: readonly (string | undefined)[]
  /** Codes of the warnings meanwhile. */
  readonly warnings: readonly string[]
  readonly known: unknown
  /** What a call was answered that was still waiting when the lock was gone. */
  readonly late: string
  readonly admitted: number
}

/** Locks the database of a gateway whose limit is used up, starts it, and unlocks when `early` calls were answered. */
async function startWithLockedDatabase(early: number): Promise<LockedFigures> {
  await using upstream = await startSimulatedUpstream({ reply: () => answerOf(10) })
  await using dir = await makeTempDir()
  const file = await useUp(upstream, dir.path)
  using lock = new DatabaseSync(file, { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  await using gateway = await start(upstream, dir.path)
  const responses = await Promise.all(Array.from({ length: early }, () => call(gateway.port)))
  const late = call(gateway.port)
  const health = await untilHealth(gateway, 'the warning', ({ status }) => status === 'degraded')
  const known = asRecord(health['token_budget'])['known']
  lock.exec('ROLLBACK')
  const warnings = health['warnings'] as readonly { readonly code: string }[]
  const figures = {
    early: responses.map(answered),
    retryAfter: responses.map((response) => response.header('retry-after')),
    warnings: warnings.map(({ code }) => code),
    known,
    late: answered(await late),
    admitted: upstream.requests.length - 1,
  }
  await untilHealth(gateway, 'the past is known', (now) => asRecord(now['token_budget'])['known'] === true)
  return figures
}

interface RestartFigures {
  readonly restarts: number
  readonly refused: number
  /** Calls beyond what the one in flight left that reached the upstream: none must. */
  readonly admitted: number
  /** Whether there was room again when the call in flight had ended. */
  readonly isFreed: boolean
}

/** Restarts a gateway while a call in flight may use nine tenths of the limit. */
async function restartsBesideAReservation(restarts: number, callsEach: number): Promise<RestartFigures> {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream({ reply: () => answerOf(10) })
  await using place = await makeWorkplace()
  const port = await freePort()
  const fixed = [`--port=${port}`, `--upstream=${upstream.baseUrl}`, `--token-limit=${limit}`]
  const supervisor = place.supervisor({ args: [...fixed, ...rejecting] })
  await supervisor.start()
  upstream.replyOnce([write(streamHead), write(wordChunk('word')), until(gate.promise), write(streamEnd)])
  await using holder = await openRawClient(port)
  await holder.send(requestBytes('POST', chat, { body: asking({ max_tokens: 900, stream: true }) }))
  await holder.waitForBytes('word')
  const tooMuch = requestBytes('POST', chat, { body: asking({ max_tokens: 200 }) })
  let refused = 0
  const count = ({ status }: RawResponse): void => void (refused += status === 429 ? 1 : 0)
  for (let at = 0; at < restarts; at++) {
    // One comes to the old gateway by a connection that it keeps, while the new one is there already.
    await using kept = await openRawClient(port)
    await kept.send(tooMuch)
    count(await kept.response())
    await supervisor.restart()
    await kept.send(tooMuch)
    count(await kept.response())
    for (let each = 2; each < callsEach; each++) count(await call(port, { max_tokens: 200 }))
  }
  const admitted = upstream.requests.length - 1
  gate.resolve()
  await holder.response()
  const deadline = performance.now() + 10_000
  let isFreed = false
  while (!isFreed && performance.now() < deadline) {
    isFreed = (await call(port, { max_tokens: 900 })).status === 200
  }
  return { restarts, refused, admitted, isFreed }
}

interface LockedRestartFigures {
  /** Tokens that the last gateway counts, once the past is known. */
  readonly counted: unknown
  /** Tokens of all calls. */
  readonly used: number
  /** Whether it knew the past before the database was unlocked. */
  readonly knewBefore: unknown
}

/** Restarts a gateway twice while its database is locked, so that none of them has read yet what was used before. */
async function restartsWithLockedDatabase(): Promise<LockedRestartFigures> {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream({ reply: () => answerOf(10) })
  await using place = await makeWorkplace()
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, `--upstream=${upstream.baseUrl}`] })
  await supervisor.start()
  await call(port)
  await supervisor.stop()
  using lock = new DatabaseSync(place.file('telemetry.db'), { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  await supervisor.start()
  for (let at = 0; at < 2; at++) await call(port)
  upstream.replyOnce([until(gate.promise), ...answerOf(30)])
  const held = call(port)
  while (upstream.requests.length < 4) await sleep(5)
  await supervisor.restart()
  await call(port)
  await supervisor.restart()
  await call(port)
  const before = await supervisor.status()
  lock.exec('ROLLBACK')
  gate.resolve()
  await held
  // Who has been replaced tells all that it knows before it ends.
  await eventually('predecessors to end', () => place.gateways().length === 1)
  let now = before
  await eventually('the past to be known', async () => knows((now = await supervisor.status())) === true)
  const counted = now.health?.token_budget?.total_used
  return { counted, used: 10 + 2 * 10 + 30 + 10 + 10, knewBefore: knows(before) }
}

const knows = ({ health }: ProcessStatus): unknown => health?.token_budget?.known

interface LeftStreamFigures {
  readonly limit: number
  readonly streams: number
  /** Chunks that the clients saw, and a quarter of the bytes that they sent, until the first call was refused. */
  readonly streamed: number
  /** As `/health` tells. */
  readonly estimated: number
  /** Tokens that stand in the rows: none was reported. */
  readonly inRows: number
  /** Whether a start after `kill -9` counts the same. */
  readonly isKept: boolean
}

/** Clients that leave each stream before its usage comes, until they are refused. */
async function streamsThatAreLeft(clients: number, tokenLimit: number): Promise<LeftStreamFigures> {
  const words = Array.from({ length: 40 }, (_, index) => [write(wordChunk(`w${index} `)), wait(5)]).flat()
  await using upstream = await startSimulatedUpstream({ reply: () => [write(streamHead), ...words, stall()] })
  await using dir = await makeTempDir()
  const args = ['--token-limit', String(tokenLimit), '--max-concurrent', String(clients), ...rejecting]
  const options = { upstream: upstream.baseUrl, directory: dir.path, args }
  let streams = 0
  let streamed = 0
  const leave = async (port: number): Promise<void> => {
    const body = asking({ stream: true })
    for (;;) {
      await using client = await openRawClient(port)
      await client.send(requestBytes('POST', chat, { body }))
      const marks = [client.waitForBytes('w30 '), client.waitForBytes('token_budget_exceeded')]
      await Promise.race(marks)
      for (const mark of marks) mark.catch(() => undefined)
      const seen = client.received.toString()
      if (seen.includes('token_budget_exceeded')) return
      streams += 1
      streamed += (seen.match(/"content":"w\d+ "/g) ?? []).length + Math.ceil(Buffer.byteLength(body) / 4)
      client.leave()
    }
  }
  let estimated: number
  {
    await using gateway = await startGatewayProcess(options)
    await Promise.all(Array.from({ length: clients }, () => leave(gateway.port)))
    await untilIdle(gateway)
    await recordedCalls(gateway, streams + clients)
    estimated = Number(asRecord((await gateway.health())['token_budget'])['estimated'])
    await gateway.kill9()
  }
  const rows = readCalls(`${dir.path}/telemetry.db`)
  await using next = await startGatewayProcess(options)
  const health = await untilHealth(next, 'the past is known', (now) => {
    return asRecord(now['token_budget'])['known'] === true
  })
  return {
    limit: tokenLimit,
    streams,
    streamed,
    estimated,
    inRows: rows.reduce((sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0), 0),
    isKept: asRecord(health['token_budget'])['estimated'] === estimated,
  }
}

const wordChunk = (content: string): Buffer =>
  chunkFrame(sseEvent({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }))
const streamEnd = Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])

function asking(body: object): string {
  return JSON.stringify({ model: 'm', ...body })
}

function answerOf(tokens: number): ReturnType<typeof jsonReply> {
  const usage = { prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens }
  return jsonReply(200, { model: 'm', choices: [{}], usage })
}

function answered(response: RawResponse): string {
  return `${response.status} ${response.header('x-tokenweir-error') ?? ''}`.trim()
}

function call(port: number, body: object = {}): Promise<RawResponse> {
  return exchange(port, 'POST', chat, { body: asking(body) })
}

function start(
  upstream: SimulatedUpstream,
  directory: string,
  ...args: readonly string[]
): Promise<GatewayProcess> {
  const all = ['--token-limit', String(limit), ...rejecting, ...args]
  return startGatewayProcess({ upstream: upstream.baseUrl, directory, args: all })
}

/** One call uses more than the limit; then its gateway is killed. Answers where the database is. */
async function useUp(upstream: SimulatedUpstream, directory: string): Promise<string> {
  await using gateway = await start(upstream, directory)
  upstream.replyOnce(answerOf(limit + 200))
  assert.equal((await call(gateway.port)).status, 200)
  await recordedCalls(gateway, 1)
  await gateway.kill9()
  return gateway.databaseFile
}
