/** A real dashboard with a real gateway and a real receiver, through kills and restarts. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AlertsReport } from '../../src/api/alerts.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startReceiver } from './alert-receiver.ts'

const secretPath = '/services/T0AAAAAA/dGhlIHNlY3JldA'
const secret = 'whsec_c2VjcmV0IG9mIHRoZSBzaWduYXR1cmU='

async function reportOf(dashboard: DashboardProcess): Promise<AlertsReport> {
  return (await (await dashboard.ask('GET', '/api/alerts')).json()) as AlertsReport
}

/** Waits until the rules have been looked at so many times more, whole looks. */
async function afterLooks(dashboard: DashboardProcess, count: number): Promise<AlertsReport> {
  let report = await reportOf(dashboard)
  for (let seen = 0, last = report.looked_at; seen <= count;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    report = await reportOf(dashboard)
    if (report.looked_at !== last) seen += 1
    last = report.looked_at
  }
  return report
}

/** The environment and the arguments of the processes that this one has started. */
function ofChildren(pid: number): string {
  if (process.platform !== 'linux') return ''
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return ''
    }
  }
  const isChild = (each: string): boolean =>
    new RegExp(`^PPid:\\s+${pid}$`, 'm').test(read(`/proc/${each}/status`))
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChild(name))
  assert.ok(children.length >= 2, 'the gateway, and the process that reads the database')
  return children.map((each) => read(`/proc/${each}/environ`) + read(`/proc/${each}/cmdline`)).join('\n')
}

test('a real gateway fails, is killed, and so is its dashboard: each thing is told once, and no secret anywhere', async () => {
  await using receiver = await startReceiver()
  await using dir = await makeTempDir()
  const env = { TOKENWEIR_ALERT_WEBHOOK: `${receiver.origin}${secretPath}`, TOKENWEIR_ALERT_SECRET: secret }
  // Nobody listens on port 9.
  const options = {
    directory: dir.path,
    env,
    args: ['--alert-every-s', '1', '--upstream', 'http://127.0.0.1:9'],
  }
  let begun: readonly string[]
  {
    await using dashboard = await startDashboardProcess(options)
    await dashboard.ask('POST', '/api/proxy/start')
    const { port, pid } = await dashboard.status()
    for (let call = 0; call < 20; call += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, {
        headers: { 'x-tokenweir-session': 's' },
      })
      assert.equal(answer.status, 502)
      await answer.arrayBuffer()
    }
    await receiver.waitFor(1)
    assert.deepEqual(receiver.types(), ['alert.begins error_ratio'])
    const told = ofChildren(dashboard.command.pid)

    process.kill(pid ?? assert.fail(), 'SIGKILL')
    await receiver.waitFor(2)
    begun = ['alert.begins error_ratio', 'alert.begins gateway_crashed']
    assert.deepEqual(receiver.types(), begun)
    const report = await afterLooks(dashboard, 1)
    assert.deepEqual(report.active.map(({ rule }) => rule).sort(), ['error_ratio', 'gateway_crashed'])
    await eventually(
      'another gateway',
      async () => (await dashboard.status()).crash?.state === 'started_again',
    )
    assert.deepEqual(report.receiver, {
      host: new URL(receiver.origin).host,
      format: 'json',
      signed: true,
      fixed_by: 'TOKENWEIR_ALERT_WEBHOOK',
    })
    await dashboard.command.stop('SIGKILL')

    const files = readdirSync(join(dir.path, 'data')).map((name) => {
      const path = join(dir.path, 'data', name)
      return name.endsWith('.sock') ? '' : readFileSync(path, 'latin1')
    })
    const { stdout, stderr } = dashboard.command
    const everything = [told, JSON.stringify(report), stdout, stderr, ...files].join('\n')
    for (const part of ['dGhlIHNlY3JldA', 'T0AAAAAA', 'c2VjcmV0', env.TOKENWEIR_ALERT_WEBHOOK]) {
      assert.ok(!everything.includes(part), part)
    }
  }
  await using dashboard = await startDashboardProcess(options)
  await afterLooks(dashboard, 1)
  assert.deepEqual(receiver.types(), begun)
  const off = { error_ratio: { on: false }, gateway_crashed: { on: false } }
  assert.equal((await dashboard.ask('PUT', '/api/alerts', off)).status, 200)
  await receiver.waitFor(4)
  const ended = ['alert.ended gateway_crashed', 'alert.ended error_ratio']
  assert.deepEqual(receiver.types().slice(2), ended)

  // Whoever stops it wants it stopped.
  await dashboard.ask('POST', '/api/proxy/start')
  await dashboard.ask('PUT', '/api/alerts', { gateway_down: { threshold: 0 } })
  await afterLooks(dashboard, 1)
  await dashboard.ask('POST', '/api/proxy/stop')
  await afterLooks(dashboard, 2)
  assert.equal(receiver.received.length, 4)

  await using listed = startCommandProcess({ args: ['alerts'], directory: dir.path, env })
  assert.deepEqual((await listed.exited).code, 0, listed.stderr)
  assert.match(listed.stdout, /^off {2}error_ratio +20% or more/m)
  assert.match(listed.stdout, /^No active alerts, last checked: \d/m)
  assert.ok(listed.stdout.includes(`Alerts are sent to ${new URL(receiver.origin).host}\n`))
})

test('`tokenweir alerts test` sends a message and says what came back, and never the address', async () => {
  await using receiver = await startReceiver((response, index) =>
    response.writeHead(index === 0 ? 200 : 404).end('no_service'),
  )
  await using dir = await makeTempDir()
  const url = `${receiver.origin}${secretPath}`
  const cases: readonly [args: readonly string[], url: string, code: number, said: RegExp][] = [
    [[], url, 0, /^127\.0\.0\.1:\d+ accepted the message: 200 OK\n$/],
    [['--alert-format', 'slack'], url, 1, /did not accept the message: 404 Not Found: no_service\n$/],
    [[], '', 2, /there is no webhook/],
    [
      [],
      `htp:/${secretPath}`,
      2,
      /TOKENWEIR_ALERT_WEBHOOK \(--alert-webhook\) must be an http or https URL; the given text is not\n$/,
    ],
    [['more'], url, 2, /one message at a time/],
  ]
  for (const [args, webhook, code, said] of cases) {
    await using command = startCommandProcess({
      args: ['alerts', 'test', ...args],
      directory: dir.path,
      env: { TOKENWEIR_ALERT_WEBHOOK: webhook },
    })
    const exit = await command.exited
    const text = command.stdout + command.stderr
    assert.equal(exit.code, code, text)
    assert.match(text, said)
    assert.ok(!text.includes('dGhlIHNlY3JldA'), text)
  }
  assert.equal(receiver.received.length, 2)
})
