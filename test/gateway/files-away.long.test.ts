/** Files of settings while an editor saves them, or that say what cannot be: no call goes where it is not meant to. */
import assert from 'node:assert/strict'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../support/exchange.ts'
import { untilHealth, untilWarned } from '../support/gateway-state.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams, writeUpstreams } from '../support/upstreams-file.ts'

const secret = 'key-of-a-client'

function chat(port: number, model: string) {
  return exchange(port, 'POST', '/v1/chat/completions', {
    headers: [
      ['Content-Type', 'application/json'],
      ['Authorization', `Bearer ${secret}`],
    ],
    body: JSON.stringify({ model, messages: [], user: 'agent' }),
  })
}

test('while files are away for a moment, what they said holds, and no call goes to another upstream', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using own = await startSimulatedUpstream()
  const named = [
    { name: 'own', urls: [own.origin], models: ['own*'], credentials: { file: 'own.key' } as never },
  ]
  await using gateway = await startGatewayOfUpstreams({ upstream: byDefault.origin, named })
  const files = ['upstreams.json', 'clients.json', 'own.key'].map((name) => `${gateway.directory}/${name}`)
  writeFileSync(files[1]!, JSON.stringify({ agent: { max_concurrent: 2 } }))
  writeFileSync(files[2]!, 'key-of-own')
  const limited = (health: object): boolean =>
    (health as { clients?: readonly { client: string; max_concurrent: number | null }[] }).clients?.some(
      ({ client, max_concurrent }) => client === 'agent' && max_concurrent === 2,
    ) === true
  await untilHealth(gateway, 'all is read', (health) => health['status'] === 'ok' && limited(health))
  const over = new AbortController()
  let calls = 0
  const load = Array.from({ length: 4 }, async () => {
    for (; !over.signal.aborted; calls++) {
      const answer = await chat(gateway.port, `own-${calls}`)
      assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'own'])
    }
  })
  for (const awayMs of [5, 200, 1000]) {
    const content = files.map((file) => readFileSync(file))
    for (const file of files) rmSync(file)
    await delay(awayMs)
    if (awayMs === 1000) {
      await untilWarned(gateway, /^broken_upstreams_file: .*upstreams\.json was deleted/)
      await untilWarned(gateway, /^broken_clients_file: .*clients\.json was deleted/)
      await untilWarned(gateway, /^upstream_key_missing: .*keeps its last key/)
      assert.ok(limited(await gateway.health()))
    }
    // As editors do: beside it, and then into its place.
    for (const [at, file] of files.entries()) {
      writeFileSync(`${file}~`, content[at]!)
      renameSync(`${file}~`, file)
    }
    await untilHealth(gateway, 'all is there again', (health) => health['status'] === 'ok' && limited(health))
  }
  over.abort()
  await Promise.all(load)
  assert.ok(calls > 20, `${calls}`)
  assert.equal(byDefault.requests.length, 0)
  for (const { rawHeaders } of own.requests) assert.ok(rawHeaders.includes('Bearer key-of-own'))
  // A command, or whoever writes the file, takes upstreams away.
  writeUpstreams(gateway.directory, [])
  await untilHealth(gateway, 'none is left', (health) => !('upstreams' in health))
  rmSync(files[0]!)
  rmSync(files[1]!)
  await untilWarned(gateway, /^broken_clients_file: .*clients\.json was deleted/)
})

test('an upstream whose proxy cannot be used answers 502, and all others go on', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [],
    env: { HTTPS_PROXY: 'socks5://127.0.0.1:9' },
  })
  writeUpstreams(gateway.directory, [{ name: 'far', urls: ['https://far.test'], models: ['far'] }])
  await untilHealth(gateway, 'it is read', (health) => 'upstreams' in health)
  const answer = await chat(gateway.port, 'far')
  assert.equal(answer.status, 502)
  assert.match(answer.body.toString(), /HTTPS_PROXY is not the http or https address of a proxy/)
  assert.equal((await chat(gateway.port, 'm')).status, 200)
  assert.equal(gateway.stderr.includes('a fault'), false, gateway.stderr)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
})
