/** What a restart leaves of the raw log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { openRawClient } from '../support/raw-client.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { until, write } from '../support/reply-step.ts'
import { jsonReply, responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

test('switched off after a restart, it is off for the calls that the predecessor finishes', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0', `--upstream=${upstream.baseUrl}`] })
  const { port } = await supervisor.start({ raw_log: true })
  const log = rawLogOf({ port })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([
    write(responseHead(200, [['Content-Length', '4']])),
    write('ha'),
    until(gate.promise),
    write('lf'),
  ])
  await using client = await openRawClient(port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m"}' }))
  await client.waitForBytes('ha')
  await supervisor.restart()
  await eventually('the report', async () => (await supervisor.status()).predecessors.length === 1)
  await log.toggle(false)
  // With the question for its calls the predecessor hears of the switch.
  const isTold = async (): Promise<boolean> => (await supervisor.live())?.calls.length === 1
  await eventually('the predecessor to hear of it', isTold)
  gate.resolve()
  assert.equal((await client.response('POST')).body.toString(), 'half')
  client.leave()
  await eventually('its end', () => place.gateways().length === 1)
  assert.deepEqual(fieldsOf(await log.recent(), 'direction'), ['incoming'])
})

test('as a setting it changes the running gateway, is kept, and counts where a restart brings it', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0', `--upstream=${upstream.baseUrl}`] })
  const { port } = await supervisor.start({ raw_log: true })
  const log = rawLogOf({ port })
  const enabled = async (): Promise<unknown> => (await log.status())['enabled']
  assert.equal(await enabled(), true)
  const config = await supervisor.configure({ raw_log: false })
  assert.deepEqual(config.needs_restart, [])
  assert.equal(await enabled(), false)
  const option = config.options.find(({ name }) => name === 'raw_log')
  assert.deepEqual([option?.value, option?.running, option?.changes], [false, false, 'live'])
  await assert.rejects(supervisor.configure({ raw_log: 'on' }), /raw_log must be true or false/)

  await supervisor.restart({ raw_log: true })
  assert.equal(await enabled(), true)
  // Switched off by hand, it stays off over a restart that says nothing of it.
  await log.toggle(false)
  await supervisor.restart()
  assert.equal(await enabled(), false)
  await supervisor.restart({ raw_log: true })
  assert.equal(await enabled(), true)
  await supervisor.stop()
  const again = await supervisor.start()
  assert.equal((await rawLogOf(again).status())['enabled'], true)
})
