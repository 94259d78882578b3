import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveCall } from '../../src/api/live-calls.ts'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { openRawClient } from '../support/raw-client.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { stall, write } from '../support/reply-step.ts'
import { chunkFrame, sseEvent, streamHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

test('calls that a replaced gateway still finishes are told, and can be cancelled', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=2']
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  const ask = async (model: string) => {
    const event = sseEvent({ choices: [{ index: 0, delta: { content: model }, finish_reason: null }] })
    upstream.replyOnce([write(streamHead), write(chunkFrame(event)), stall()])
    const client = await openRawClient(port)
    await client.send(requestBytes('POST', '/v1/chat/completions', { body: `{"model":"${model}"}` }))
    await client.waitForBytes(`"${model}"`)
    return client
  }
  await using old = await ask('old')
  const restarted = await supervisor.restart()
  assert.notEqual(restarted.pid, pid)
  await using young = await ask('young')

  let calls: readonly LiveCall[] = []
  const told = async () => {
    calls = (await supervisor.live())?.calls ?? []
    return calls.map(({ model, state, chunks }) => `${model} ${state} ${chunks}`).join(', ')
  }
  await eventually(
    'both calls on the board',
    async () => (await told()) === 'old streaming 1, young streaming 1',
  )
  const [first] = calls
  assert.equal(await supervisor.cancel(first!.id), true)
  const cut = await old.response()
  assert.deepEqual([cut.status, cut.complete], [200, false])
  assert.equal((await upstream.requests[0]!.connection.closed).by, 'client')
  await eventually('the other one alone', async () => (await told()) === 'young streaming 1')
  await eventually('the old gateway to end', () => !place.gateways().includes(pid!))
  assert.equal(await supervisor.cancel(first!.id), false)
  young.leave()
  await supervisor.stop()
  const rows = readCalls(place.file('telemetry.db'))
  assert.deepEqual(fieldsOf(rows, 'model', 'failure_code'), [
    ['old', 'cancelled'],
    ['young', 'client_gone'],
  ])
})
