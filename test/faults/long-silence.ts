/**
 * Calls on which nothing moves for longer than any time-out that Node (300 s) or undici (300 s) has of its own:
 * `node test/faults/long-silence.ts [--minutes 6]`. Too long for the suite; exits with 1 if any call fails.
 */
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { requestBytes } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilRecorded } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, wait, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, responseHead, sseEvent } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '6' } } })
const silenceMs = Number(values.minutes) * 60_000
const marginMs = 60_000

function* quietStream(): Generator<ReplyStep> {
  const head = [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ] as const
  yield write(responseHead(200, head))
  yield write(chunkFrame(sseEvent({ choices: [{ index: 0, delta: { content: 'w' } }] })))
  yield wait(silenceMs)
  yield write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()]))
}

async function call(gateway: GatewayProcess, target: string, body: string): Promise<string> {
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('POST', target, { body }))
  const answer = await client.response('POST', silenceMs * 2 + marginMs)
  return `${answer.status} ${answer.complete ? 'complete' : 'cut'}`
}

/** A body that comes in two halves with the silence between them. */
async function slowUpload(gateway: GatewayProcess, target: string): Promise<string> {
  await using client = await openRawClient(gateway.port)
  await client.send(`POST ${target} HTTP/1.1\r\nHost: weir\r\nContent-Length: 20\r\n\r\n{"model":`)
  await delay(silenceMs)
  await client.send('"m","x":1 }')
  const answer = await client.response('POST', marginMs)
  return `${answer.status} ${answer.complete ? 'complete' : 'cut'}`
}

await using upstream = await startSimulatedUpstream({
  reply: ({ target }) => {
    if (target.includes('quiet-head')) return [wait(silenceMs), ...jsonReply(200, {})]
    if (target.includes('quiet-stream')) return { steps: quietStream() }
    return jsonReply(200, {})
  },
})
const options = { upstream: upstream.baseUrl, args: ['--max-concurrent', '2', '--idle-timeout-ms', '0'] }
await using gateway = await startGatewayProcess(options)
await using second = await startGatewayProcess(options)
const chat = '/v1/chat/completions'
const large = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(300_000) }] })
const calls: [string, Promise<string>][] = [
  ['first byte late', call(gateway, `${chat}?quiet-head`, '{"model":"m"}')],
  ['a pause in the stream', call(gateway, `${chat}?quiet-stream`, '{"model":"m","stream":true}')],
]
await untilCalls(gateway, { active: 2, queued: 0 })
calls.push(
  ['queued with 300 kB', call(gateway, chat, large)],
  ['a body that is read whole, late', slowUpload(second, chat)],
  ['a body that is passed on, late', slowUpload(second, '/v1/files')],
)
for (const [name, ending] of calls) {
  const how = await ending.catch(String)
  console.log(`${name}: ${how}`)
  if (how !== '200 complete') process.exitCode = 1
}
console.log(`measured: ${calls.length} calls with ${values.minutes} minutes of silence in each phase`)
await untilRecorded(gateway, 3)
await untilRecorded(second, 2)
for (const row of [...readCalls(gateway.databaseFile), ...readCalls(second.databaseFile)]) {
  console.log(`${row.endpoint}: ${row.outcome} ${row.failure_code ?? ''} ${row.duration_ms} ms`)
}
