/** A restart that turns sharing on, and one that turns it off: no call is cut, and each is one row. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

test('calls of a gateway that does not share end beside one that does, and the other way round', async () => {
  await using postgres = await startPostgres()
  const gates = new Map(['before', 'shared'].map((name) => [name, Promise.withResolvers<void>()]))
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => {
      const gate = gates.get(target.split('?')[1] ?? '')
      return { steps: [until(gate?.promise ?? Promise.resolve()), ...jsonReply(200, { model: 'm' })] }
    },
  })
  await using place = await makeWorkplace()
  const port = await freePort()
  const args = [
    `--port=${port}`,
    '--slot-cooldown-ms=0',
    '--max-concurrent=1',
    `--upstream=${upstream.baseUrl}`,
  ]
  const env = { ...process.env, TOKENWEIR_SHARE: await postgres.database('on_and_off') }
  const alone = place.supervisor({ args, env })
  const shared = place.supervisor({ args: [...args, '--share'], env })
  const call = async (name: string): Promise<number> =>
    (await exchange(port, 'POST', `/v1/chat/completions?${name}`, { body: '{"model":"m"}' })).status
  /** A call that is at the upstream while the gateway is restarted. */
  const held = async (name: string, inFlight: number): Promise<Promise<number>[]> => {
    const answer = call(name)
    await upstream.waitFor(`the call ${name}`, () => upstream.inFlight === inFlight)
    return [answer]
  }
  const healthOf = async (supervisor: typeof alone) => (await supervisor.status()).health

  await alone.start()
  const [before] = await held('before', 1)
  assert.equal((await shared.restart()).running, true)
  await eventually('it to be counted', async () => (await healthOf(shared))?.shared?.gateways === 1)
  // What the old one has in flight counts beside the shared limit.
  const [during] = await held('shared', 2)
  assert.equal((await healthOf(shared))?.rate_limiter.active, 1)

  assert.equal((await alone.restart()).running, true)
  assert.equal((await healthOf(alone))?.shared, undefined)
  // What an old one that shares has in flight it tells its successor, which keeps to its limit with it.
  const after = call('after')
  await eventually('it to wait', async () => (await healthOf(alone))?.rate_limiter.queued === 1)
  assert.equal(upstream.inFlight, 2)
  for (const gate of gates.values()) gate.resolve()
  assert.deepEqual(await Promise.all([before, during, after]), [200, 200, 200])
  await eventually('both old gateways to end', () => place.gateways().length === 1)
  using database = new DatabaseSync(place.file('telemetry.db'), { readOnly: true })
  const rows = database.prepare(
    'SELECT count(*) AS calls, count(DISTINCT instance_id) AS gateways FROM calls WHERE status = 200',
  )
  await eventually('each to be a row', async () => {
    const { calls, gateways } = rows.get() ?? {}
    return calls === 3 && gateways === 3
  })
})
