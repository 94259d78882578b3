import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { exchange, requestBytes } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilHealth, untilIdle } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, stall, write } from '../support/reply-step.ts'
import { chunkFrame, responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const calls = 500
const body = JSON.stringify({ model: 'm', stream: true, messages: [] })
const begun = [
  write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
  write(chunkFrame('data: {"choices":[{"index":0,"delta":{"content":"begun"}}]}\n\n')),
]

/** What becomes of a call, by its number, and what the upstream does about it; `undefined` answers as usual. */
const replies = {
  ok: undefined,
  again: undefined,
  stall: [stall()],
  begun: [...begun, stall()],
  reset: [...begun, reset()],
  cut: [cut()],
  upload: [stall()],
} satisfies Record<string, ReplyStep[] | undefined>
const fates = Object.keys(replies) as (keyof typeof replies)[]

function fateOf(call: number): keyof typeof replies {
  return fates[call % fates.length]!
}

function openFiles(gateway: GatewayProcess): number {
  return readdirSync(`/proc/${gateway.pid}/fd`).length
}

test(`after ${calls} calls of all fates, no slot, socket or file is kept`, async () => {
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => replies[fateOf(Number(/call=(\d+)/.exec(target)?.[1] ?? 0))],
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '16', '--slot-cooldown-ms', '0'],
  })
  await exchange(gateway.port, 'POST', '/v1/chat/completions?call=0', { body })
  // By then the database is open, too.
  await recordedCalls(gateway, 1)
  const before = openFiles(gateway)
  await inParallel(Array.from({ length: calls }), 32, async (_, call) => {
    await using client = await openRawClient(gateway.port)
    const target = `/v1/chat/completions?call=${call}`
    const fate = fateOf(call)
    if (fate === 'upload') {
      await client.send('POST /v1/files HTTP/1.1\r\nHost: weir\r\nContent-Length: 9000\r\n\r\nhalf')
      client.reset()
      return
    }
    await client.send(requestBytes('POST', target, { body }))
    if (fate === 'stall') {
      await upstream.waitFor(
        `call ${call}`,
        () => upstream.requests.some((request) => request.target === target),
        20_000,
      )
      client.leave()
    } else if (fate === 'begun') {
      await client.waitForBytes('begun', 20_000)
      client.reset()
    } else {
      await client.response('POST', 20_000)
    }
  })
  await untilIdle(gateway)
  const rows = await recordedCalls(gateway, calls + 1)
  assert.ok(rows.filter((row) => row.outcome === 'ok').length >= (calls * 2) / fates.length)
  // Kept connections to the upstream go when they have idled for four seconds.
  await untilHealth(
    gateway,
    `its ${openFiles(gateway)} open files are ${before} again`,
    () => Math.abs(openFiles(gateway) - before) <= 5,
    30_000,
  )
  assert.equal(complaintsOf(gateway), '')
})
