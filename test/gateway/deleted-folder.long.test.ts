/** The folder that a gateway runs in is deleted: clients keep it as long as they call it, and then it ends by itself. */
import assert from 'node:assert/strict'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type CommandProcess, startCommandProcess } from '../support/command-process.ts'
import { eventually } from '../support/eventually.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const minutes = 60_000

interface RunningHere extends AsyncDisposable {
  readonly command: CommandProcess
  readonly origin: string
  setMs(ms: number): void
}

/** A gateway that a dashboard started, whose folder is deleted when it is up, and whose clock is set by hand. */
async function startInDeletedFolder(upstream: string, args: readonly string[] = []): Promise<RunningHere> {
  await using cleanup = new AsyncDisposableStack()
  const clock = cleanup.use(await makeTempDir())
  const setMs = (ms: number): void => {
    writeFileSync(clock.file('new'), String(ms))
    renameSync(clock.file('new'), clock.file('clock'))
  }
  setMs(0)
  const dir = await makeTempDir()
  const command = cleanup.use(
    startCommandProcess({
      args: ['gateway', '--port=0', '--host=127.0.0.1', `--upstream=${upstream}`, ...args],
      directory: dir.path,
      nodeArgs: ['--import', new URL('set-clock.ts', import.meta.url).href],
      env: { TOKENWEIR_SET_CLOCK: clock.file('clock'), TOKENWEIR_SUPERVISED: 'null' },
    }),
  )
  const [, origin = ''] = await command.waitForOutput(/listening on (http:\/\/127\.0\.0\.1:\d+),/)
  await command.waitForOutput(/calls are recorded in/)
  rmSync(dir.path, { recursive: true, maxRetries: 5 })
  const owned = cleanup.move()
  return { command, origin, setMs, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function call(origin: string): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
}

test('calls are served for as long as there are any, and ten minutes later the gateway ends', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startInDeletedFolder(upstream.baseUrl)
  const { command, origin } = gateway
  await command.waitForOutput(/no dashboard controls this gateway/)
  gateway.setMs(9 * minutes)
  assert.equal((await call(origin)).status, 200)
  const answer = Promise.withResolvers<void>()
  upstream.replyOnce([until(answer.promise), ...jsonReply(200, {})])
  const late = call(origin)
  await upstream.waitForInFlight(1)
  gateway.setMs(30 * minutes)
  // A look takes place once a second, and this one says what it has met.
  await command.waitForOutput(/cannot be recorded/)
  answer.resolve()
  assert.equal((await late).status, 200)
  assert.equal((await fetch(`${origin}/health`)).status, 200)
  assert.ok(!command.stdout.includes('stopping'))
  let ms = 31 * minutes
  // The minutes count from the look that saw the last call.
  await eventually('its end', () => {
    gateway.setMs((ms += minutes / 6))
    return command.stderr.includes('stopped: its folder was deleted')
  })
  assert.ok(ms >= 40 * minutes, `${ms}`)
  assert.equal((await command.exited).code, 0)
})

test('a gateway whose files are elsewhere runs on', async () => {
  await using elsewhere = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const files = [`--db=${elsewhere.file('calls.db')}`, `--pid-file=${elsewhere.file('pid')}`]
  await using gateway = await startInDeletedFolder(upstream.baseUrl, files)
  gateway.setMs(60 * minutes)
  rmSync(elsewhere.file('gateway.sock'))
  gateway.setMs(90 * minutes)
  await eventually(
    'the next look',
    () => gateway.command.stderr !== '' || existsSync(elsewhere.file('gateway.sock')),
  )
  assert.equal((await call(gateway.origin)).status, 200)
  assert.ok(!gateway.command.stdout.includes('stopping'))
})
