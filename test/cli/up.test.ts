import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { assertWithin } from '../support/assert-within.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { asRecord } from '../support/json-record.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'
import { eventually } from '../support/eventually.ts'

const dashboardOn = /dashboard on (http:\/\/127\.0\.0\.1:\d+)/
const anyPorts = ['--port', '0', '--host', '127.0.0.1', '--dashboard-port', '0']

async function statusOf(dashboard: string): Promise<ProcessStatus> {
  return (await (await fetch(`${dashboard}/api/proxy/status`)).json()) as ProcessStatus
}

test('both come up, a call passes, and Ctrl-C stops both once the calls in flight have finished', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', upstream.baseUrl] })
  const { command, dashboard, gateway } = up
  await command.waitForOutput(/try it: {2}curl http:\/\/127\.0\.0\.1:\d+\/v1\/models -H "Authorization/)
  const page = await fetch(dashboard)
  assert.match(await page.text(), /<title>tokenweir/)
  const status = await statusOf(dashboard)
  assert.equal(status.state, 'running')
  assert.equal(`http://127.0.0.1:${status.port}`, gateway)
  const answer = await fetch(`${gateway}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()

  const told = Promise.withResolvers<void>()
  upstream.replyOnce([until(told.promise), ...jsonReply(200, { id: 'late' })])
  const late = fetch(`${gateway}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  await upstream.waitForInFlight(1)
  const stopped = command.stop('SIGINT')
  await command.waitForOutput(/stopping after calls in flight/)
  told.resolve()
  assert.deepEqual(await (await late).json(), { id: 'late' })
  assert.deepEqual(await stopped, { code: 0, signal: null })
  await assert.rejects(fetch(`${gateway}/health`), TypeError)
  await assert.rejects(fetch(dashboard), TypeError)
  assert.ok(!existsSync(dir.file('data/gateway.sock')))
  assert.ok(existsSync(dir.file('data/llm_telemetry.db')))
})

test('a second one says what runs already and leaves it alone; one that asks for something else says what differs and fails', async () => {
  await using dir = await makeTempDir()
  await using elsewhere = await makeTempDir()
  const own = ['--upstream', 'http://127.0.0.1:9/v1']
  await using up = await startUpProcess({ directory: dir.path, args: own })
  const before = await statusOf(up.dashboard)
  const port = ['--dashboard-port', new URL(up.dashboard).port]
  for (const args of [
    ['up', ...port],
    ['dashboard', '--port', port[1]!],
  ]) {
    await using second = startCommandProcess({ args, directory: dir.path })
    assert.deepEqual(await second.exited, { code: 0, signal: null }, second.stderr)
    assert.match(second.stdout, new RegExp(`already up: dashboard on ${up.dashboard}\n`))
    assert.match(second.stdout, new RegExp(`${up.gateway}/v1.*\\(running, process ${before.pid}\\)`))
  }
  const asked: readonly (readonly [args: readonly string[], directory: string, words: RegExp])[] = [
    [
      ['--upstream', 'http://127.0.0.1:8/v1', '--max-concurrent', '9'],
      dir.path,
      /--upstream http:\/\/127\.0\.0\.1:8\/v1 was given; it uses http:\/\/127\.0\.0\.1:9\/v1\n.*--max-concurrent 9 .*uses 4\n/,
    ],
    [
      [],
      elsewhere.path,
      new RegExp(`its data are in ${dir.file('data')}, not in ${elsewhere.file('data')}\n`),
    ],
  ]
  for (const [args, directory, words] of asked) {
    await using second = startCommandProcess({ args: ['up', ...port, ...args], directory })
    assert.deepEqual(await second.exited, { code: 1, signal: null }, second.stdout)
    assert.match(second.stdout, new RegExp(`already up: dashboard on ${up.dashboard}\n`))
    assert.match(second.stderr, words)
    assert.match(second.stderr, new RegExp(`it was not changed. Change it on ${up.dashboard}/settings`))
  }
  await using same = startCommandProcess({
    args: ['up', ...port, ...own, '--db', dir.file('data/llm_telemetry.db')],
    directory: dir.path,
  })
  assert.deepEqual(await same.exited, { code: 0, signal: null }, same.stderr)
  await using third = startCommandProcess({
    args: ['up', '--dashboard-port', '0', '--host', '127.0.0.1', '--port', new URL(up.gateway).port],
    directory: elsewhere.path,
  })
  assert.deepEqual(await third.exited, { code: 3, signal: null })
  const database = new RegExp(`process ${before.pid}, database ${dir.file('data/llm_telemetry.db')}`)
  assert.match(third.stderr, database)
  await using bare = startCommandProcess({
    args: ['gateway', '--host', '127.0.0.1', '--port', new URL(up.gateway).port],
    directory: elsewhere.path,
  })
  assert.deepEqual(await bare.exited, { code: 3, signal: null })
  assert.match(bare.stderr, database)
  const after = await statusOf(up.dashboard)
  assert.deepEqual([after.pid, after.upstream], [before.pid, before.upstream])
})

test('a gateway that runs already is used as it is, and what differs is said', async () => {
  await using dir = await makeTempDir()
  const own = ['--host', '127.0.0.1', '--port', '0', '--upstream', 'http://127.0.0.1:9/v1']
  await using gateway = startCommandProcess({ args: ['gateway', ...own], directory: dir.path })
  await gateway.waitForOutput(/listening on/)
  await using up = await startUpProcess({
    directory: dir.path,
    args: ['--upstream', 'http://127.0.0.1:9/v1', '--max-concurrent', '9'],
  })
  await up.command.waitForOutput(new RegExp(`already running \\(process ${gateway.pid}\\)`))
  await up.command.waitForOutput(/other values of max_concurrent: restart it/)
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  assert.match(
    up.command.stdout,
    new RegExp(
      `process ${gateway.pid}\\) was already running and keeps running: stop it with kill ${gateway.pid}`,
    ),
  )
  await gateway.stop()
})

test('a second one with a page of its own leaves the gateway of the first one running at its end', async () => {
  await using dir = await makeTempDir()
  const args = ['--upstream', 'http://127.0.0.1:9/v1']
  await using first = await startUpProcess({ directory: dir.path, args })
  const before = await statusOf(first.dashboard)
  await using second = await startUpProcess({ directory: dir.path, args })
  // A restart on its page changes nothing in whose gateway it is.
  const restarted = await fetch(`${second.dashboard}/api/proxy/restart`, { method: 'POST' })
  const { pid } = (await restarted.json()) as ProcessStatus
  assert.notEqual(pid, before.pid)
  assert.deepEqual(await second.command.stop('SIGINT'), { code: 0, signal: null })
  assert.match(second.command.stdout, new RegExp(`the gateway \\(process ${pid}\\) .* keeps running`))
  const after = await statusOf(first.dashboard)
  assert.deepEqual([after.state, after.pid, after.health_ok], ['running', pid, true])
  assert.equal((await fetch(`${first.gateway}/health`)).status, 200)
  assert.deepEqual(await first.command.stop('SIGINT'), { code: 0, signal: null })
  await assert.rejects(fetch(`${first.gateway}/health`), TypeError)
})

test('a gateway that is killed is served again within three seconds, and the terminal says so', async () => {
  await using dir = await makeTempDir()
  await using up = await startUpProcess({
    directory: dir.path,
    args: ['--upstream', 'http://127.0.0.1:9/v1'],
  })
  const { pid } = await statusOf(up.dashboard)
  process.kill(pid ?? assert.fail(), 'SIGKILL')
  const killedMs = performance.now()
  await eventually(
    'the next gateway',
    async () => (await fetch(`${up.gateway}/health`).catch(() => null))?.status === 200,
  )
  assertWithin(3000, performance.now() - killedMs, 'the start')
  await up.command.waitForOutput(new RegExp(`process ${pid}\\) ended without being told to \\(SIGKILL\\)`))
  await up.command.waitForOutput(/The gateway was started again \(process \d+\)/)
  assert.equal((await statusOf(up.dashboard)).crash?.pid, pid)
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
  await assert.rejects(fetch(`${up.gateway}/health`), TypeError)
})

test('a port that something else holds ends the start with exit code 3 and its words', async () => {
  await using dir = await makeTempDir()
  const other = createServer((_req, res) => res.end('{}')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  try {
    const port = String((other.address() as AddressInfo).port)
    await using gatewayPort = startCommandProcess({
      args: ['up', '--dashboard-port', '0', '--host', '127.0.0.1', '--port', port],
      directory: dir.path,
    })
    assert.deepEqual(await gatewayPort.exited, { code: 3, signal: null }, gatewayPort.stderr)
    assert.match(gatewayPort.stderr, new RegExp(`Port ${port} is in use by another program`))
    await using dashboardPort = startCommandProcess({
      args: ['up', '--dashboard-port', port, '--port', '0'],
      directory: dir.path,
    })
    assert.deepEqual(await dashboardPort.exited, { code: 3, signal: null })
    assert.match(
      dashboardPort.stderr,
      new RegExp(`port ${port} is in use; choose another with --dashboard-port`),
    )
  } finally {
    other.close()
    other.closeAllConnections()
  }
})

const refused: readonly (readonly [what: string, args: readonly string[], words: RegExp])[] = [
  ['other machines, without a token', ['up', '--dashboard-host', '0.0.0.0'], /set TOKENWEIR_ADMIN_TOKEN/],
  ['a dashboard for them', ['dashboard', '--host', '0.0.0.0'], /set TOKENWEIR_ADMIN_TOKEN/],
  ['itself as the upstream', ['up', '--upstream', 'http://localhost:9118/api'], /must not be the dashboard/],
  ['an upstream for the demo', ['demo', '--upstream', 'http://127.0.0.1:9'], /cannot be used with the demo/],
  [
    'an address that cannot be',
    ['up', '--host', '1.2.3.999'],
    /--host must be an IP address .* got "1.2.3.999"/,
  ],
]

for (const [what, args, words] of refused) {
  test(`refused with exit code 2 and one line: ${what}`, async () => {
    await using dir = await makeTempDir()
    await using command = startCommandProcess({ args, directory: dir.path })
    assert.deepEqual(await command.exited, { code: 2, signal: null }, command.stdout)
    assert.match(command.stderr, words)
    assert.match(command.stderr, /^tokenweir: [^\n]+\n$/)
  })
}

test('an address that this machine does not have is told in one line', async () => {
  await using dir = await makeTempDir()
  await using command = startCommandProcess({
    args: ['gateway', '--host', 'nowhere.invalid'],
    directory: dir.path,
  })
  assert.deepEqual(await command.exited, { code: 2, signal: null }, command.stdout)
  assert.match(command.stderr, /^\S+Z \[\d+\] tokenweir: cannot listen on nowhere\.invalid:9090: [^\n]+\n$/)
})

test('a settings file with a wrong value stops the start and is named', async () => {
  await using dir = await makeTempDir()
  await using first = await startUpProcess({ directory: dir.path, args: [] })
  const put = await fetch(`${first.dashboard}/api/proxy/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"token_limit":5}',
  })
  assert.equal(put.status, 200)
  await first.command.stop('SIGTERM')
  await writeFile(dir.file('data/gateway.json'), '{"token_limit":"five"}')
  await using command = startCommandProcess({ args: ['up', ...anyPorts], directory: dir.path })
  assert.deepEqual(await command.exited, { code: 2, signal: null })
  assert.match(command.stderr, /data\/gateway\.json: token_limit must be a whole number .* got "five"/)
})

test('the dashboard alone ends without its gateway', async () => {
  await using dir = await makeTempDir()
  using cleanup = new DisposableStack()
  const args = [
    '--port',
    '0',
    '--gateway-port',
    '0',
    '--gateway-host',
    '127.0.0.1',
    '--upstream',
    'http://127.0.0.1:9',
  ]
  await using dashboard = startCommandProcess({ args: ['dashboard', ...args], directory: dir.path })
  const [, origin = ''] = await dashboard.waitForOutput(dashboardOn)
  await dashboard.waitForOutput(/no gateway is running/)
  const started = (await (
    await fetch(`${origin}/api/proxy/start`, { method: 'POST' })
  ).json()) as ProcessStatus
  // Neither the dashboard nor `up` ends the gateway.
  cleanup.defer(() => void process.kill(started.pid ?? assert.fail(), 'SIGKILL'))
  assert.deepEqual(await dashboard.stop('SIGTERM'), { code: 0, signal: null })
  const health = await fetch(`http://127.0.0.1:${started.port}/health`)
  assert.equal(health.status, 200)
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', 'http://127.0.0.1:9'] })
  assert.equal((await statusOf(up.dashboard)).pid, started.pid, 'it is found again')
})

test('the demo answers without a key, shows that it is simulated, and leaves nothing behind', async () => {
  await using dir = await makeTempDir()
  // What the environment says of real calls is not for made-up ones.
  const env = {
    TOKENWEIR_ALERT_WEBHOOK: 'http://127.0.0.1:9/',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    TOKENWEIR_UPSTREAM_FILE: dir.file('real.json'),
  }
  await writeFile(env.TOKENWEIR_UPSTREAM_FILE, 'no JSON')
  await using demo = await startUpProcess({ directory: dir.path, args: [], env }, 'demo')
  const { command, dashboard, gateway } = demo
  assert.match(command.stdout, /the upstream, its responses, .* are simulated/)
  const status = await statusOf(dashboard)
  assert.equal(status.simulated, true)
  assert.equal(status.host, '127.0.0.1')
  const models = await fetch(`${gateway}/v1/models`)
  assert.match(await models.text(), /simulated-small/)
  const alerts = await fetch(`${dashboard}/api/alerts`)
  assert.equal(asRecord(await alerts.json())['receiver'], null)
  // There is one while the past is read, if that takes long.
  await eventually('no warning', async () => {
    const health = await fetch(`${gateway}/health`)
    return isDeepStrictEqual(asRecord(await health.json())['warnings'], [])
  })
  assert.deepEqual(await command.stop('SIGINT'), { code: 0, signal: null })
  await assert.rejects(fetch(`${gateway}/health`), TypeError)
  assert.ok(!existsSync(status.log_file))
  assert.ok(!existsSync(dir.file('data')))
})
