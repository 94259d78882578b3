/** A disk without room for a single byte keeps no gateway from being started, controlled and started again. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { eventually } from '../support/eventually.ts'
import { fullDisk } from '../support/full-disk.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'

test('on a full disk `up` brings up a gateway that serves, says so, and is started again', async (context) => {
  await using dir = await makeTempDir()
  using disk = fullDisk(dir.file('data'))
  if (disk === null) return context.skip('nothing can be mounted here')
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', upstream.baseUrl] })
  const status = async (): Promise<ProcessStatus> =>
    (await (await fetch(`${up.dashboard}/api/proxy/status`)).json()) as ProcessStatus
  const call = async (): Promise<number> => {
    const body = '{"model":"m","messages":[]}'
    const origin = `http://127.0.0.1:${(await status()).port}`
    const answer = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', body })
    await answer.arrayBuffer()
    return answer.status
  }
  assert.equal(await call(), 200)
  await eventually('a warning', async () => (await status()).health?.status === 'degraded')
  const { pid } = await status()
  process.kill(pid ?? assert.fail(), 'SIGKILL')
  await eventually('another gateway', async () => {
    const now = await status()
    return now.pid !== pid && now.health_ok
  })
  assert.equal(await call(), 200)

  // The page's buttons, too.
  const ask = (what: string): Promise<Response> =>
    fetch(`${up.dashboard}/api/proxy/${what}`, { method: 'POST' })
  for (const what of ['restart', 'stop', 'start']) {
    const answer = await ask(what)
    assert.equal(answer.status, 200, await answer.text())
  }
  assert.equal(await call(), 200)
  const { port } = await status()
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), TypeError)
})

test('`up` stops its gateway although its folder has been removed', async () => {
  await using dir = await makeTempDir()
  await using up = await startUpProcess({
    directory: dir.path,
    args: ['--upstream', 'http://127.0.0.1:9/v1'],
  })
  // The gateway may make a file there meanwhile.
  rmSync(dir.file('data'), { recursive: true, maxRetries: 10, retryDelay: 20 })
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  await eventually('the gateway to be gone', () =>
    fetch(`${up.gateway}/health`).then(
      () => false,
      () => true,
    ),
  )
  await using alone = startCommandProcess({ args: ['calls'], directory: dir.path })
  assert.equal((await alone.exited).code, 0)
})
