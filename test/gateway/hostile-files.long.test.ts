/** Files of settings that somebody else may write: whatever stands there, calls are served, and one warning says what is wrong. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ControlClient } from '../../src/control/control-client.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { hostileContents, hostileKinds } from '../support/hostile-files.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'

const settings = ['upstreams.json', 'clients.json', 'own.key', 'model_costs.json'] as const

function chat(port: number, model: string, key = 'key-of-a-client') {
  return exchange(port, 'POST', '/v1/chat/completions', {
    headers: [
      ['Content-Type', 'application/json'],
      ['Authorization', `Bearer ${key}`],
    ],
    body: JSON.stringify({ model, messages: [] }),
  })
}

/** The codes of the warnings. */
function codesIn(health: object): readonly string[] {
  const { warnings } = health as { warnings: readonly { code: string }[] }
  return warnings.map(({ code }) => code).toSorted()
}

test('while a gateway runs, what it was told last holds, whatever stands in the place of its files', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using own = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [{ name: 'own', urls: [own.origin], models: ['own'], credentials: { env: 'NONE' } }],
  })
  const { directory } = gateway
  const named = [{ name: 'own', urls: [own.origin], models: ['own'], credentials: { file: 'own.key' } }]
  const good: Record<(typeof settings)[number], string> = {
    'upstreams.json': JSON.stringify({ version: 1, upstreams: named }),
    'clients.json': JSON.stringify({ agent: { max_concurrent: 3 } }),
    'own.key': 'key-of-own\n',
    'model_costs.json': readFileSync(new URL('../../dist/model_costs.json', import.meta.url), 'utf8'),
  }
  const write = (): void => {
    for (const [name, text] of Object.entries(good)) writeFileSync(join(directory, name), text)
  }
  write()
  await untilHealth(gateway, 'all files are read', ({ status }) => status === 'ok')
  const control = new ControlClient(directory)
  for (const { what, place } of [...hostileContents, ...hostileKinds]) {
    const undo: (() => void)[] = []
    for (const name of settings) {
      // Prices are read by the thread that records; what is wrong with their content is tested there.
      if (name === 'model_costs.json' && !hostileKinds.some((each) => each.what === what)) continue
      rmSync(join(directory, name), { recursive: true, force: true })
      undo.push(await place(join(directory, name)))
    }
    await control.reloadFiles()
    const answer = await chat(gateway.port, 'own')
    assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'own'], what)
    const sent = own.requests.at(-1)?.rawHeaders ?? []
    assert.ok(sent.includes('Bearer key-of-own'), what)
    const codes = codesIn(await gateway.health())
    for (const code of ['broken_upstreams_file', 'broken_clients_file']) {
      assert.equal(codes.filter((each) => each === code).length, 1, `${what}: ${codes.join()}`)
    }
    assert.equal(codes.filter((each) => each === 'upstream_key_missing').length, 1, what)
    for (const each of undo) each()
  }
  assert.equal(byDefault.requests.length, 0)
  write()
  await control.reloadFiles()
  await untilHealth(gateway, 'all is well again', ({ status }) => status === 'ok')
  assert.equal(gateway.stderr.includes('a fault'), false, gateway.stderr)
})

/** What a gateway keeps in its folder, and reads. */
const kept = [
  ...settings,
  'upstreams.json.good',
  'clients.json.good',
  '.salt',
  '.share-id',
  'gateway-process.json',
  'gateway.pid',
] as const

for (const { what, place } of [
  ...hostileKinds,
  ...hostileContents.filter(({ what }) => what === 'deep JSON'),
]) {
  test(`a start serves with ${what} in the place of each of its files`, async () => {
    await using byDefault = await startSimulatedUpstream()
    await using folder = await makeTempDir()
    const directory = folder.file('data')
    mkdirSync(directory)
    const undo: (() => void)[] = []
    for (const name of kept) undo.push(await place(join(directory, name)))
    {
      await using gateway = await startGatewayProcess({ upstream: byDefault.origin, directory })
      assert.equal((await chat(gateway.port, 'm')).status, 200)
      const codes = codesIn(await gateway.health())
      assert.ok(
        codes.includes('broken_upstreams_file') && codes.includes('broken_clients_file'),
        codes.join(),
      )
      assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
    }
    for (const each of undo) {
      try {
        each()
      } catch {
        // The gateway has put its own file there.
      }
    }
  })
}

test('a salt that is empty or short is made anew, and a warning says what that changes', async () => {
  await using upstream = await startSimulatedUpstream()
  await using folder = await makeTempDir()
  const salt = folder.file('.salt')
  const start = () => startGatewayProcess({ upstream: upstream.origin, directory: folder.path })
  {
    await using gateway = await start()
    assert.deepEqual(
      codesIn(await gateway.health()).filter((code) => code === 'new_salt'),
      [],
    )
  }
  const whole = readFileSync(salt)
  assert.equal(whole.length, 16)
  for (const broken of [Buffer.alloc(0), whole.subarray(0, 7), Buffer.alloc(40)]) {
    writeFileSync(salt, broken)
    await using gateway = await start()
    const { warnings } = (await gateway.health()) as { warnings: { code: string; message: string }[] }
    const told = warnings.find(({ code }) => code === 'new_salt')?.message ?? ''
    assert.match(
      told,
      new RegExp(`\\.salt had ${broken.length} bytes, not 16, and was created again: .*fingerprints`),
    )
    assert.equal(readFileSync(salt).length, 16)
    assert.deepEqual(readFileSync(`${salt}.broken`), broken)
    assert.equal((await chat(gateway.port, 'm')).status, 200)
  }
  // What is kept by the next start is what the last one made.
  const made = readFileSync(salt)
  await using gateway = await start()
  assert.deepEqual(
    codesIn(await gateway.health()).filter((code) => code === 'new_salt'),
    [],
  )
  assert.deepEqual(readFileSync(salt), made)
  renameSync(`${salt}.broken`, folder.file('looked-at'))
})
