/** An update replaces the package under a gateway and a dashboard that run: they finish their work, and say what they cannot do. */
import assert from 'node:assert/strict'
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ControlClient } from '../../src/control/control-client.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth, untilRecorded, untilWarned } from '../support/gateway-state.ts'
import { untilNoted } from '../support/open-calls.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startUpProcess } from '../support/up-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { writeUpstreams } from '../support/upstreams-file.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** This tree, as an own package; its dependencies are shared. */
async function copyTree(to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const part of ['bin', 'src', 'package.json']) {
    await cp(`${repository}/${part}`, `${to}/${part}`, { recursive: true })
  }
  await cp(`${repository}/dist`, `${to}/dist`, { recursive: true })
  await symlink(`${repository}/node_modules`, `${to}/node_modules`)
}

/** In each thread of the gateway: one dies as soon as a file is there. */
function dyingThreads(flag: string): string {
  const script = `
    const { isMainThread } = process.getBuiltinModule('node:worker_threads')
    const { existsSync } = process.getBuiltinModule('node:fs')
    if (!isMainThread) setInterval(() => { if (existsSync(${JSON.stringify(flag)})) throw new Error('told to die') }, 20).unref()`
  return `data:text/javascript,${encodeURIComponent(script)}`
}

const chat = (port: number, model: string) =>
  exchange(port, 'POST', '/v1/chat/completions', { body: JSON.stringify({ model, messages: [] }) })

test('a gateway whose package is removed or replaced serves on, and has no thread again from other files', async () => {
  await Promise.all(
    (['removed', 'replaced'] as const).map(async (how) => {
      await using folder = await makeTempDir()
      const tree = folder.file('package')
      await copyTree(tree)
      const gate = Promise.withResolvers<void>()
      let served = 0
      // The first call is held, as a long stream is.
      const reply = () => ({
        steps: [...(served++ === 0 ? [until(gate.promise)] : []), ...jsonReply(200, { choices: [{}] })],
      })
      await using upstream = await startSimulatedUpstream({ reply })
      const flag = folder.file('die')
      await mkdir(folder.file('data'))
      await using gateway = await startGatewayProcess({
        upstream: upstream.origin,
        directory: folder.file('data'),
        command: `${tree}/bin/tokenweir.js`,
        nodeArgs: ['--import', dyingThreads(flag)],
      })
      await gateway.waitForOutput(/calls are recorded/)
      const held = chat(gateway.port, 'held')
      await upstream.waitForRequest(0)
      await untilHealth(gateway, 'it is no longer young', ({ uptime_s }) => Number(uptime_s) > 2)

      await rename(tree, `${tree}.before`)
      if (how === 'replaced') {
        await copyTree(tree)
        for (const entry of ['store/write/writer-worker.ts', 'payloads/payload-worker.ts']) {
          await writeFile(`${tree}/src/${entry}`, 'throw new Error("of another version")')
        }
      } else await rm(`${tree}.before`, { recursive: true })

      // All that was loaded late once.
      const control = new ControlClient(gateway.directory)
      const live = await control.live()
      assert.ok(typeof live === 'object' && live.calls.length === 1)
      writeUpstreams(gateway.directory, [{ name: 'own', urls: [upstream.origin], models: ['own'] }])
      await writeFile(`${gateway.directory}/clients.json`, '{"agent": {"max_concurrent": 2}}')
      await untilHealth(gateway, 'its files are read', (health) => 'upstreams' in health)
      assert.equal((await chat(gateway.port, 'own')).header('x-tokenweir-upstream'), 'own')
      await control.setOptions({ keep_days: 30 })
      await untilRecorded(gateway, 1)

      await writeFile(flag, '')
      const words = new RegExp(`^writer_restarted: .*the program in ${tree}/src was replaced or removed`)
      await untilWarned(gateway, words)
      assert.equal((await chat(gateway.port, 'own')).status, 200)
      await untilNoted(gateway.databaseFile, 1)
      gate.resolve()
      assert.equal((await held).status, 200)
      assert.equal(gateway.stderr.includes('of another version'), false)
      assert.equal(gateway.stderr.includes('a fault'), false, gateway.stderr)
      await rm(flag)
      const { code } = await gateway.stop()
      assert.equal(code, 0)

      // What ended without a thread to record it is lost, but for the trace of the call that was open before.
      await using next = await startGatewayProcess({
        upstream: upstream.origin,
        directory: gateway.directory,
      })
      await next.waitForOutput(/calls are recorded/)
      const calls = await recordedCalls(next, 2)
      assert.deepEqual(calls.map(({ outcome }) => outcome).toSorted(), ['interrupted', 'ok'])
    }),
  )
})

test('a dashboard whose package is removed answers, says why it can start nothing, and its gateway goes on', async () => {
  await using upstream = await startSimulatedUpstream()
  await using folder = await makeTempDir()
  const tree = folder.file('package')
  await copyTree(tree)
  await mkdir(folder.file('work'))
  const file = `${tree}/bin/tokenweir.js`
  const args = ['--upstream', upstream.origin]
  await using up = await startUpProcess({ directory: folder.file('work'), args, file })
  const ask = async (method: string, path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(up.dashboard + path, { method })
    return [answer.status, await answer.text()]
  }
  assert.equal((await ask('GET', '/api/query'))[0], 200)
  await rm(tree, { recursive: true })
  const gateway = Number(new URL(up.gateway).port)
  for (const path of [
    '/',
    '/openapi.json',
    '/api/alerts',
    '/api/upstreams',
    '/api/live',
    '/api/proxy/status',
  ]) {
    assert.equal((await ask('GET', path))[0], 200, path)
  }
  assert.equal((await chat(gateway, 'm')).status, 200)
  const [restarted, why] = await ask('POST', '/api/proxy/restart')
  assert.equal(restarted, 500, why)
  const [compressed, told] = await ask('POST', '/api/database/compress')
  assert.ok(compressed >= 400, told)
  assert.equal((await chat(gateway, 'm')).status, 200)
  assert.equal((await ask('GET', '/api/query'))[0], 200)
  assert.match(why + told, /Cannot find module/)
})
