import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
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

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(directory: string, args: readonly string[]): Promise<Ended> {
  await using command = startCommandProcess({ args, directory })
  const { code } = await command.exited
  return { code, stdout: command.stdout, stderr: command.stderr }
}

async function statusOf(dashboard: string): Promise<ProcessStatus> {
  return (await (await fetch(`${dashboard}/api/proxy/status`)).json()) as ProcessStatus
}

test('both come up, a call passes, and Ctrl-C stops both once the calls in flight have finished', async (t) => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', upstream.baseUrl] })
  const { command, dashboard, gateway } = up
  const call = (): Promise<Response> =>
    fetch(`${gateway}/v1/chat/completions`, { method: 'POST', body: '{"model":"m","messages":[]}' })
  await command.waitForOutput(/try it: {2}curl http:\/\/127\.0\.0\.1:\d+\/v1\/models -H "Authorization/)
  const page = await fetch(dashboard)
  assert.match(await page.text(), /<title>tokenweir/)
  const status = await statusOf(dashboard)
  assert.equal(status.state, 'running')
  assert.equal(`http://127.0.0.1:${status.port}`, gateway)
  const base = `${gateway.replace('127.0.0.1', 'localhost')}/v1`
  const none = await run(dir.path, ['calls'])
  assert.ok(none.stdout.includes(`yet: send a call to ${base} to see it here`), none.stdout)
  const answer = await call()
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  const env = await run(dir.path, ['env', 'openai'])
  assert.ok(
    env.stdout.includes(`OPENAI_BASE_URL=${gateway.replace('127.0.0.1', 'localhost')}/v1`),
    env.stdout,
  )

  await t.test(
    'a gateway that is killed is served again within three seconds, and the terminal says so',
    async () => {
      const pid = status.pid ?? assert.fail()
      process.kill(pid, 'SIGKILL')
      const killedMs = performance.now()
      await eventually(
        'the next gateway',
        async () => (await fetch(`${gateway}/health`).catch(() => null))?.status === 200,
      )
      assertWithin(3000, performance.now() - killedMs, 'the start')
      await command.waitForOutput(new RegExp(`process ${pid}\\) crashed \\(SIGKILL\\)`))
      await command.waitForOutput(/The gateway was started again \(process \d+\)/)
      assert.equal((await statusOf(dashboard)).crash?.pid, pid)
    },
  )

  const put = await fetch(`${dashboard}/api/proxy/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"token_limit":5000}',
  })
  assert.equal(put.status, 200)
  const told = Promise.withResolvers<void>()
  upstream.replyOnce([until(told.promise), ...jsonReply(200, { id: 'late' })])
  const late = call()
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

  await t.test('a settings file with a wrong value stops the next start and is named', async () => {
    await writeFile(dir.file('data/gateway.json'), '{"token_limit":"five"}')
    const { code, stderr } = await run(dir.path, ['up', ...anyPorts])
    assert.equal(code, 2)
    assert.match(stderr, /data\/gateway\.json: token_limit must be a whole number .* got "five"/)
  })
})

test('a second one says what runs already and leaves it alone; one that asks for something else says what differs and fails', async (t) => {
  await using dir = await makeTempDir()
  await using elsewhere = await makeTempDir()
  const own = ['--upstream', 'http://127.0.0.1:9/v1']
  await using up = await startUpProcess({ directory: dir.path, args: own })
  const { dashboard, gateway } = up
  const before = await statusOf(dashboard)
  const port = ['--dashboard-port', new URL(dashboard).port]
  const isUp = new RegExp(`already up: dashboard on ${dashboard}\n`)
  for (const args of [
    ['up', ...port],
    ['dashboard', '--port', port[1]!],
  ]) {
    const second = await run(dir.path, args)
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stdout, isUp)
    assert.match(second.stdout, new RegExp(`${gateway}/v1.*\\(running, process ${before.pid}\\)`))
  }
  const asked: readonly (readonly [directory: string, args: readonly string[], words: RegExp])[] = [
    [
      dir.path,
      ['--upstream', 'http://127.0.0.1:8/v1', '--max-concurrent', '9'],
      /--upstream http:\/\/127\.0\.0\.1:8\/v1 was given; it uses http:\/\/127\.0\.0\.1:9\/v1\n.*--max-concurrent 9 .*uses 4\n/,
    ],
    [
      dir.path,
      ['--alert-webhook', 'https://hooks.example.com/secret', '--alert-format', 'slack'],
      /--alert-webhook was given \(slack to hooks\.example\.com\); it sends no alerts\n/,
    ],
    [
      elsewhere.path,
      [],
      new RegExp(`its data are in ${dir.file('data')}, not in ${elsewhere.file('data')}\n`),
    ],
  ]
  for (const [directory, args, words] of asked) {
    const second = await run(directory, ['up', ...port, ...args])
    assert.equal(second.code, 1, second.stdout)
    assert.match(second.stdout, isUp)
    assert.match(second.stderr, words)
    assert.match(second.stderr, new RegExp(`it was not changed. Change it on ${dashboard}/settings`))
  }
  const same = await run(dir.path, ['up', ...port, ...own, '--db', dir.file('data/llm_telemetry.db')])
  assert.equal(same.code, 0, same.stderr)
  const onItsPort = ['--host', '127.0.0.1', '--port', new URL(gateway).port]
  for (const args of [
    ['up', '--dashboard-port', '0', ...onItsPort],
    ['gateway', ...onItsPort],
  ]) {
    const { code, stderr } = await run(elsewhere.path, args)
    assert.equal(code, 3)
    const database = dir.file('data/llm_telemetry.db')
    assert.match(stderr, new RegExp(`process ${before.pid}, database ${database}`))
  }
  const after = await statusOf(dashboard)
  assert.deepEqual([after.pid, after.upstream], [before.pid, before.upstream])

  await t.test(
    'a second one with a page of its own leaves the gateway of the first one running at its end',
    async () => {
      await using second = await startUpProcess({ directory: dir.path, args: own })
      // A restart on its page changes nothing in whose gateway it is.
      const restarted = await fetch(`${second.dashboard}/api/proxy/restart`, { method: 'POST' })
      const { pid } = (await restarted.json()) as ProcessStatus
      assert.notEqual(pid, before.pid)
      assert.deepEqual(await second.command.stop('SIGINT'), { code: 0, signal: null })
      assert.match(second.command.stdout, new RegExp(`the gateway \\(process ${pid}\\) .* keeps running`))
      const left = await statusOf(dashboard)
      assert.deepEqual([left.state, left.pid, left.health_ok], ['running', pid, true])
      assert.equal((await fetch(`${gateway}/health`)).status, 200)
      assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
      await assert.rejects(fetch(`${gateway}/health`), TypeError)
    },
  )
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

test('clients of a gateway with one address alone are given that address', async () => {
  await using dir = await makeTempDir()
  const args = ['gateway', '--host', '127.0.0.2', '--port', '0', '--upstream', 'http://127.0.0.1:9']
  await using gateway = startCommandProcess({ args, directory: dir.path })
  const [, origin = ''] = await gateway.waitForOutput(/listening on (http:\/\/127\.0\.0\.2:\d+)/)
  const { stdout } = await run(dir.path, ['env', 'openai'])
  assert.ok(stdout.includes(`OPENAI_BASE_URL=${origin}/v1\n`), stdout)
  assert.match((await run(dir.path, ['calls'])).stdout, new RegExp(`send a call to ${origin}/v1 `))
  await gateway.stop()
})

test('a port that something else holds ends the start with exit code 3 and its words', async () => {
  await using dir = await makeTempDir()
  await using other = await startSimulatedUpstream()
  const port = String(other.port)
  for (const [args, words] of [
    [['--dashboard-port', '0', '--host', '127.0.0.1', '--port', port], 'is in use by another program'],
    [['--dashboard-port', port, '--port', '0'], 'is in use; choose another with --dashboard-port'],
  ] as const) {
    const { code, stderr } = await run(dir.path, ['up', ...args])
    assert.equal(code, 3, stderr)
    assert.match(stderr, new RegExp(`ort ${port} ${words}`))
  }
})

test('what cannot be is refused with exit code 2 and one line', async () => {
  await using dir = await makeTempDir()
  for (const [words, ...args] of [
    [/^tokenweir: .*set TOKENWEIR_ADMIN_TOKEN[^\n]*\n$/, 'up', '--dashboard-host', '0.0.0.0'],
    [/^tokenweir: .*set TOKENWEIR_ADMIN_TOKEN[^\n]*\n$/, 'dashboard', '--host', '0.0.0.0'],
    [/^tokenweir: .*must not be the dashboard[^\n]*\n$/, 'up', '--upstream', 'http://localhost:9118/api'],
    [/^tokenweir: .*cannot be used with the demo[^\n]*\n$/, 'demo', '--upstream', 'http://127.0.0.1:9'],
    [/^tokenweir: .*--host must be an IP address .* got "1.2.3.999"[^\n]*\n$/, 'up', '--host', '1.2.3.999'],
    [
      /^\S+Z \[\d+\] tokenweir: cannot listen on nowhere\.invalid:9090: [^\n]+\n$/,
      'gateway',
      '--host',
      'nowhere.invalid',
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(dir.path, args)
    assert.equal(code, 2, stdout)
    assert.match(stderr, words)
  }
})

test('the dashboard alone ends without its gateway', async () => {
  await using dir = await makeTempDir()
  using cleanup = new DisposableStack()
  const upstream = ['--upstream', 'http://127.0.0.1:9']
  const ports = ['--port', '0', '--gateway-port', '0', '--gateway-host', '127.0.0.1']
  const args = ['dashboard', ...ports, ...upstream]
  await using dashboard = startCommandProcess({ args, directory: dir.path })
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
  await using up = await startUpProcess({ directory: dir.path, args: upstream })
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
