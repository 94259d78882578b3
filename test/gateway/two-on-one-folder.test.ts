import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ControlClient } from '../../src/control/control-client.ts'
import { tryFileLock } from '../../src/lib/files/file-lock.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { eventually } from '../support/eventually.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { makeTempDir } from '../support/temp-dir.ts'

async function call(gateway: Pick<GatewayProcess, 'baseUrl'>): Promise<number> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
  await response.arrayBuffer()
  return response.status
}

function pidIn(directory: string): string {
  return readFileSync(`${directory}/gateway.pid`, 'utf8').trim()
}

test("each call has its row, and the second gateway leaves the first one's PID file alone", async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const options = { upstream: upstream.baseUrl, directory: dir.path, args: ['--max-concurrent', '64'] }
  await using first = await startGatewayProcess(options)
  await using second = await startGatewayProcess(options)
  assert.equal(pidIn(dir.path), String(first.pid))
  await second.waitForOutput(/no dashboard controls this gateway: another gateway/)
  const both = Array.from({ length: 300 }, (_, index) => call(index % 2 === 0 ? first : second))
  assert.deepEqual(new Set(await Promise.all(both)), new Set([200]))
  assert.deepEqual(await second.stop(), { code: 0, signal: null })
  assert.equal(pidIn(dir.path), String(first.pid))
  const rows = await recordedCalls(first, 300)
  assert.equal(new Set(rows.map(({ instance }) => instance)).size, 2)
  assert.deepEqual((await first.health())['warnings'], [])
  assert.deepEqual(await first.stop(), { code: 0, signal: null })
  assert.ok(!existsSync(`${dir.path}/gateway.pid`))
})

test('what a gateway says first is where it listens, and by then a dashboard can control it', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const port = await freePort()
  const db = dir.file('telemetry.db')
  using lock = tryFileLock(dir.file('gateway.sock.lock'))
  await using gateway = startCommandProcess({
    args: ['gateway', `--port=${port}`, '--host=127.0.0.1', `--upstream=${upstream.baseUrl}`, `--db=${db}`],
    directory: dir.path,
  })
  await eventually(
    'an answer',
    async () => (await call({ baseUrl: `http://127.0.0.1:${port}/v1` }).catch(() => 0)) === 200,
  )
  await eventually('a row', () => readCalls(db).length > 0)
  assert.equal(gateway.stdout, '')
  lock?.[Symbol.dispose]()
  await gateway.waitForOutput(/calls are recorded in/)
  assert.match(gateway.stdout, /^\S+ \[\d+\] tokenweir gateway listening on /)
  assert.equal((await new ControlClient(dir.path).running(20_000))?.port, port)
})
