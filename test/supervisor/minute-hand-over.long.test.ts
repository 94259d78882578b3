/** A restart while calls wait for a limit a minute: both gateways together keep to it, and those that came first go first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeWorkplace } from './workplace.ts'

test('no minute has more calls than the limit over a restart, and calls that wait at the old gateway go first', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }]
  await using upstream = await startSimulatedUpstream({
    reply: () => jsonReply(200, { model: 'm', choices, usage }),
  })
  await using place = await makeWorkplace()
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, '--slot-cooldown-ms=0', '--max-rpm=120'] })
  await supervisor.start({ max_concurrent: 50, upstream: upstream.baseUrl })
  const call = async (when: string): Promise<number> => {
    const { status } = await exchange(port, 'POST', `/v1/chat/completions?${when}`, { body: '{"model":"m"}' })
    return status
  }
  const before = Array.from({ length: 22 }, () => call('before'))
  await eventually('calls to wait', async () => {
    const limits = (await supervisor.status()).health?.minute_limits ?? []
    return limits.some(({ waiting }) => waiting > 5)
  })
  await supervisor.restart()
  const after = Array.from({ length: 8 }, () => call('after'))
  for (const status of await Promise.all([...before, ...after])) assert.equal(status, 200)
  const requests = upstream.requests.toSorted((one, other) => one.headAtMs - other.headAtMs)
  assert.deepEqual(
    requests.map(({ target }) => target.split('?')[1]),
    [...Array.from({ length: 22 }, () => 'before'), ...Array.from({ length: 8 }, () => 'after')],
  )
  // Six at once, then one each half second; on a busy machine some arrive late.
  const [first] = requests
  for (const [at, { headAtMs }] of requests.entries()) {
    const soonestMs = (at - 5) * 500
    assert.ok(
      headAtMs - first!.headAtMs >= soonestMs - 400,
      `request ${at} after ${headAtMs - first!.headAtMs} ms`,
    )
  }
})

test('a wait that a provider asked the old gateway for holds at the new one, also without a known limit', async () => {
  const waitMs = 12_000
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, '--pace=learn'] })
  await supervisor.start({ upstream: upstream.baseUrl })
  const call = async (): Promise<number> => {
    const { status } = await exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
    return status
  }
  upstream.replyOnce(jsonReply(429, {}, [['Retry-After-Ms', String(waitMs)]]))
  assert.equal(await call(), 429)
  await supervisor.restart()
  assert.equal(await call(), 200)
  const [refused, next] = upstream.requests
  const afterMs = next!.headAtMs - refused!.headAtMs
  assert.ok(afterMs >= waitMs - 100, `called again after ${afterMs} ms`)
})
