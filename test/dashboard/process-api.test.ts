import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProcessError } from '../../src/supervisor/process-error.ts'
import { SettingError } from '../../src/options/gateway-settings.ts'
import { parseRecord } from '../support/json-record.ts'
import { sampleLiveCall } from '../support/live-call.ts'
import { errorOf, startDashboard } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { runningStatus, someConfig } from './scripted-gateway.ts'

test('status, start, stop, restart and config come through whole', async () => {
  await using dashboard = await startDashboard()
  const bodyOf = async (method: string, target: string): Promise<unknown> => {
    const answer = await dashboard.ask(method, target)
    assert.deepEqual([answer.status, answer.header('cache-control')], [200, 'no-store'])
    assert.equal(answer.header('content-type'), 'application/json; charset=utf-8')
    return JSON.parse(answer.body.toString())
  }
  assert.deepEqual(await bodyOf('GET', '/api/proxy/status'), runningStatus)
  assert.deepEqual(await bodyOf('POST', '/api/proxy/start'), { ...runningStatus, already_running: false })
  assert.deepEqual(await bodyOf('POST', '/api/proxy/stop'), runningStatus)
  assert.deepEqual(await bodyOf('POST', '/api/proxy/restart'), runningStatus)
  assert.deepEqual(await bodyOf('GET', '/api/proxy/config'), someConfig)
  assert.deepEqual(dashboard.gateway.asked, ['status', 'start {}', 'stop', 'restart {}', 'config'])
})

test('settings reach the gateway as they were sent', async () => {
  await using dashboard = await startDashboard()
  const settings = { port: 1, upstream: '5', via: false, max_concurrent: '4' }
  await dashboard.askJson('POST', '/api/proxy/start', settings)
  await dashboard.askJson('POST', '/api/proxy/restart', settings)
  const answer = await dashboard.askJson('PUT', '/api/proxy/config', settings)
  assert.deepEqual(JSON.parse(answer.body.toString()), someConfig)
  const sent = JSON.stringify(settings)
  assert.deepEqual(dashboard.gateway.asked, [`start ${sent}`, `restart ${sent}`, `configure ${sent}`])
})

test('an empty body is none, whatever it is said to be', async () => {
  await using dashboard = await startDashboard()
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await dashboard.ask('POST', '/api/proxy/start', {
      headers: [['Content-Type', type]],
      body: '',
    })
    assert.equal(answer.status, 200, type)
  }
})

const troubles: readonly [
  error: Error,
  status: number,
  code: string,
  param: string | null,
  log?: string[],
][] = [
  [new ProcessError('not_running', 'There is none.'), 409, 'not_running', null],
  [new ProcessError('start_failed', 'It ended.', { log: ['a', 'b'] }), 500, 'start_failed', null, ['a', 'b']],
  [new ProcessError('port_in_use', 'Port 1 is taken.'), 500, 'port_in_use', null],
  [new ProcessError('stop_failed', 'It goes on.'), 500, 'stop_failed', null],
  [new SettingError('invalid_setting', 'port must be …', { param: 'port' }), 400, 'invalid_setting', 'port'],
  [new SettingError('unknown_setting', 'x cannot be set.', { param: 'x' }), 400, 'unknown_setting', 'x'],
  [new SettingError('fixed_setting', 'port is fixed.', { param: 'port' }), 409, 'fixed_setting', 'port'],
  [new SettingError('broken_settings_file', 'no JSON'), 500, 'broken_settings_file', null],
]

test('what goes wrong is told with its status, its code and the last words', async () => {
  await using dashboard = await startDashboard()
  for (const [error, status, code, param, log] of troubles) {
    for (const target of ['/api/proxy/start', '/api/proxy/stop', '/api/proxy/restart']) {
      dashboard.gateway.trouble = error
      const answer = await dashboard.ask('POST', target)
      assert.equal(answer.status, status)
      assert.deepEqual(parseRecord(answer.body.toString()), {
        error: { code, message: error.message, param, ...(log === undefined ? {} : { log }) },
      })
    }
  }
  assert.deepEqual(dashboard.faults, [])
})

test('a fault of our own is told of, and not shown', async () => {
  await using dashboard = await startDashboard()
  const fault = new TypeError('secret: /home/me/.ssh')
  dashboard.gateway.trouble = fault
  const answer = await dashboard.ask('GET', '/api/proxy/status')
  assert.deepEqual([answer.status, errorOf(answer).code], [500, 'internal_error'])
  assert.doesNotMatch(answer.body.toString(), /secret|ssh|TypeError/)
  assert.deepEqual(dashboard.faults, [fault])
})

test('the log comes by lines, as JSON alone, and can be cleared', async () => {
  await using dashboard = await startDashboard()
  const hostile = ['<script>alert(1)</script>', '"},{"x":"', '\u2028</pre>', '\\', 'data: x']
  dashboard.log.lines = [...Array.from({ length: 300 }, (_, i) => `line ${i}`), ...hostile]
  const lines = async (query: string): Promise<unknown> => {
    const answer = await dashboard.ask('GET', `/api/proxy/logs${query}`)
    assert.match(answer.header('content-type') ?? '', /^application\/json/)
    return JSON.parse(answer.body.toString())
  }
  assert.deepEqual(await lines('?lines=5'), { logs: hostile, total_lines: 305, returned_lines: 5 })
  assert.deepEqual(await lines(''), {
    logs: dashboard.log.lines.slice(-150),
    total_lines: 305,
    returned_lines: 150,
  })
  assert.deepEqual(await lines('?lines=5000'), {
    logs: dashboard.log.lines,
    total_lines: 305,
    returned_lines: 305,
  })
  for (const wrong of ['0', '5001', '-1', '1.5', '1e3', '0x10', '%205', '', 'all', '1&lines=2']) {
    const answer = await dashboard.ask('GET', `/api/proxy/logs?lines=${wrong}`)
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'invalid_parameter'], wrong)
    assert.match(errorOf(answer).message, /^lines must be a whole number from 1 to 5,000; got ["[]/)
  }
  const other = await dashboard.ask('GET', '/api/proxy/logs?line=1')
  assert.equal(errorOf(other).message, '"line" is not a parameter; known are lines.')
  const none = await dashboard.ask('GET', '/api/proxy/status?x=1')
  assert.equal(errorOf(none).message, '"x" is not a parameter; this route has none.')
  const cleared = await dashboard.ask('POST', '/api/proxy/clear-logs')
  assert.deepEqual(JSON.parse(cleared.body.toString()), { success: true })
  assert.deepEqual(await lines(''), { logs: [], total_lines: 0, returned_lines: 0 })
})

test('calls under way are told, and one is cancelled: pages hear of it at once, and nothing is asked without them', async () => {
  await using dashboard = await startDashboard()
  const { id } = sampleLiveCall
  const board = { calls: [sampleLiveCall], more: 2 }
  dashboard.gateway.calls = board
  await dashboard.clock.advance(10_000)
  assert.deepEqual(dashboard.gateway.asked, [])
  assert.deepEqual(parseRecord((await dashboard.ask('GET', '/api/live')).body.toString()), board)

  using reader = await openEvents(dashboard.port, 'live')
  using other = await openEvents(dashboard.port, 'live')
  await reader.waitFor(1)
  await other.waitFor(1)
  const cancelled = await dashboard.ask('POST', `/api/calls/${id}/cancel`)
  assert.deepEqual([cancelled.status, parseRecord(cancelled.body.toString())], [200, { cancelled: true }])
  dashboard.gateway.calls = { calls: [], more: 0 }
  // One look for both, and one more as a call was cancelled: no second has passed.
  await dashboard.ask('POST', `/api/calls/${id}/cancel`)
  assert.deepEqual(dashboard.gateway.asked, ['live', 'live', `cancel ${id}`, 'live', `cancel ${id}`])

  const over = await dashboard.ask('POST', `/api/calls/${id}/cancel`)
  assert.deepEqual([over.status, errorOf(over).code], [404, 'call_not_found'])
  const wrong = await dashboard.ask('POST', '/api/calls/nothing/cancel')
  assert.deepEqual([wrong.status, errorOf(wrong).code], [400, 'invalid_parameter'])
  dashboard.gateway.trouble = new ProcessError('gateway_silent', 'The gateway does not answer.')
  const silent = await dashboard.ask('POST', `/api/calls/${id}/cancel`)
  assert.deepEqual([silent.status, errorOf(silent).code], [504, 'gateway_silent'])
})
