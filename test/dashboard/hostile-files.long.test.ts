/** Whatever stands in the place of the dashboard's files: it answers, in words, and serves on. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { hostileContents, hostileKinds } from '../support/hostile-files.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Beside the database, but `gateway.json`, whose flaws stop a start in words. */
const files = [
  'alerts.json',
  'alerts.json.good',
  'alerts-state.json',
  'notes.json',
  'clients.json',
  'upstreams.json',
  'model_costs.json',
  'gateway-process.json',
]
/** All of them stand in the place of a gateway's files in its own test. */
const contents = hostileContents.filter(({ what }) =>
  ['nothing', 'deep JSON', 'any bytes', 'a long text'].includes(what),
)
const questions = [
  '/api/proxy/status',
  '/api/alerts',
  '/api/notes',
  '/api/clients',
  '/api/upstreams',
  '/api/costs',
  '/api/query',
]

test('a dashboard answers all questions, and starts its gateway, whatever stands in the place of its files', async () => {
  await using upstream = await startSimulatedUpstream()
  await using folder = await makeTempDir()
  const data = folder.file('data')
  mkdirSync(data)
  const place = async (kind: (typeof hostileKinds)[number]): Promise<void> => {
    for (const file of files) {
      rmSync(`${data}/${file}`, { recursive: true, force: true })
      await kind.place(`${data}/${file}`)
    }
  }
  const [pipe, ...others] = hostileKinds
  await place(pipe!)
  await using dashboard = await startDashboardProcess({
    directory: folder.path,
    args: ['--upstream', upstream.origin],
  })
  assert.equal((await dashboard.ask('POST', '/api/proxy/start')).status, 200)
  for (const kind of [pipe!, ...others, ...contents]) {
    await place(kind)
    for (const path of questions) {
      const { status } = await dashboard.ask('GET', path)
      assert.equal(status, 200, `${kind.what}: ${path}`)
    }
  }
  assert.equal((await dashboard.status()).state, 'running')
  for (const kind of [...hostileKinds, ...contents]) {
    rmSync(`${data}/gateway.json`, { recursive: true, force: true })
    const undo = await kind.place(`${data}/gateway.json`)
    const answer = await fetch(`${dashboard.origin}/api/proxy/config`)
    const told = JSON.stringify(await answer.json())
    assert.ok(answer.status === 200 || told.includes('gateway.json'), `${kind.what}: ${told}`)
    undo()
  }
  assert.equal((await dashboard.ask('GET', '/api/proxy/config')).status, 200)
  assert.equal((await dashboard.ask('POST', '/api/proxy/stop')).status, 200)
  assert.equal(dashboard.command.stderr.includes('a fault'), false, dashboard.command.stderr)
})

for (const kind of hostileKinds) {
  test(`with ${kind.what} in the place of gateway.json a dashboard ends, and says why`, async () => {
    await using folder = await makeTempDir()
    mkdirSync(folder.file('data'))
    const undo = await kind.place(folder.file('data/gateway.json'))
    await using command = startCommandProcess({
      args: ['dashboard', '--port', '0', '--host', '127.0.0.1'],
      directory: folder.path,
    })
    assert.deepEqual(await command.exited, { code: 2, signal: null })
    assert.match(command.stderr, /gateway\.json cannot be read: /)
    undo()
  })
}
