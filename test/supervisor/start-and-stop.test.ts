import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { systemClock } from '../../src/call/clock.ts'
import { ProcessError } from '../../src/supervisor/process-error.ts'
import { SettingError } from '../../src/options/gateway-settings.ts'
import { eventually } from '../support/eventually.ts'
import { commandThatWaitsFor, makeWorkplace } from './workplace.ts'
import { fieldsOf } from '../support/fields-of.ts'

const anyPort = ['--port=0', '--upstream=http://127.0.0.1:9/v1']
/** An address of nobody's machine (RFC 5737), which cannot be bound. */
const nowhere = '192.0.2.1'

test('a gateway is started, is healthy, and is stopped; what runs is not started, and what does not is not stopped', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const before = await supervisor.status()
  assert.deepEqual([before.state, before.running, before.pid, before.message], ['stopped', false, null, null])
  await assert.rejects(supervisor.stop(), { code: 'not_running' })

  const started = await supervisor.start()
  assert.equal(started.already_running, false)
  assert.equal(started.state, 'running')
  assert.ok(started.running && started.health_ok)
  assert.equal(started.upstream, 'http://127.0.0.1:9/v1')
  assert.equal(started.health?.instance, started.instance)
  assert.equal(started.health?.pid, started.pid)
  assert.equal(started.pid_file, place.file('.proxy.pid'))
  assert.equal(started.log_file, place.file('proxy.log'))
  assert.deepEqual(place.gateways(), [started.pid])
  assert.equal((await fetch(`http://127.0.0.1:${started.port}/health`)).status, 200)

  const second = await supervisor.start({ max_concurrent: 9 })
  assert.equal(second.already_running, true)
  assert.equal(second.pid, started.pid)
  assert.equal(second.health?.rate_limiter.max_concurrent, 4)
  await assert.rejects(readFile(place.file('gateway.json')), { code: 'ENOENT' })

  for (const stopped of await Promise.all([supervisor.stop(), supervisor.stop()])) {
    assert.deepEqual([stopped.state, stopped.running, stopped.message], ['stopped', false, null])
  }
  assert.deepEqual(place.gateways(), [])
  await assert.rejects(supervisor.stop(), { code: 'not_running' })
})

test('operations come in the order in which they were asked for', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const answers = await Promise.all([
    supervisor.start(),
    supervisor.stop(),
    supervisor.start(),
    supervisor.restart(),
    supervisor.stop(),
  ])
  assert.deepEqual(fieldsOf(answers, 'state'), ['running', 'stopped', 'running', 'running', 'stopped'])
  const pids = answers.map(({ pid }) => pid)
  assert.equal(new Set(pids).size, 4)
  assert.deepEqual(place.gateways(), [])
})

test('the status tells of a start, and of a stop, that is under way', async () => {
  await using place = await makeWorkplace()
  const command = commandThatWaitsFor(place.file('seen'))
  const supervisor = place.supervisor({ args: anyPort, command })
  const started = supervisor.start()
  const states = new Set<string>()
  for (let isOver = false; !isOver;) {
    isOver = await Promise.race([
      started.then(() => true),
      supervisor.status().then(({ state }) => {
        states.add(state)
        if (state === 'starting') writeFileSync(place.file('seen'), '')
        return false
      }),
    ])
  }
  assert.ok(states.has('starting'), [...states].join())
  assert.ok(!states.has('foreign') && !states.has('unresponsive'), [...states].join())
})

test('settings of a start are kept once it is healthy, and serve the next', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const started = await supervisor.start({ max_concurrent: 9, slot_cooldown_ms: 1 })
  assert.equal(started.health?.rate_limiter.max_concurrent, 9)
  await supervisor.stop()
  const again = await place.supervisor({ args: anyPort }).start()
  assert.equal(again.health?.rate_limiter.max_concurrent, 9)
  assert.deepEqual(JSON.parse(await readFile(place.file('gateway.json'), 'utf8')), {
    max_concurrent: 9,
    slot_cooldown_ms: 1,
  })
})

test('settings that are wrong, unknown or fixed are refused before anything is done', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  for (const settings of [{ max_concurrent: 0 }, { db: '/etc/passwd' }, { port: 1 }]) {
    await assert.rejects(supervisor.start(settings), SettingError)
    await assert.rejects(supervisor.restart(settings), SettingError)
    await assert.rejects(supervisor.configure(settings), SettingError)
  }
  assert.deepEqual(place.gateways(), [])
})

test('a start that fails tells why, with the last words of this very gateway', async () => {
  await using place = await makeWorkplace()
  await writeFile(place.file('proxy.log'), 'words of an earlier one\n')
  const supervisor = place.supervisor({ args: anyPort, host: nowhere })
  const error = await supervisor.start({ max_concurrent: 5 }).catch((error: unknown) => error)
  assert.ok(error instanceof ProcessError)
  assert.equal(error.code, 'start_failed')
  assert.match(error.message, /ended with exit code 1/)
  assert.match(error.log.join('\n'), /cannot listen on 192\.0\.2\.1/)
  assert.ok(error.log.length <= 20 && !error.log.join().includes('earlier'))
  await assert.rejects(readFile(place.file('gateway.json')), { code: 'ENOENT' })
  const { state, message } = await supervisor.status()
  assert.equal(state, 'stopped')
  assert.match(message!, /The last start failed\. .* exit code 1/)
})

test('a program that cannot be started, and one that never gets ready, are failed starts', async () => {
  await using place = await makeWorkplace()
  const missing = place.supervisor({ args: anyPort, command: [place.file('nowhere')] })
  await assert.rejects(missing.start(), { code: 'start_failed', message: /could not be started: .*ENOENT/ })

  const program = 'console.log("up to nothing"); setInterval(() => {}, 1000)'
  const startMs = 500
  const hasSpoken = async (): Promise<void> =>
    eventually('its words', async () => /nothing\n/.test(await readFile(place.file('proxy.log'), 'utf8')))
  const idle = place.supervisor({
    args: anyPort,
    command: [process.execPath, '-e', program, '--'],
    limits: { startMs },
    clock: {
      ...systemClock,
      // The time is not over before it has spoken, however long its start takes.
      after: (ms, callback, options) =>
        systemClock.after(ms, ms === startMs ? () => void hasSpoken().then(callback) : callback, options),
    },
  })
  const error = await idle.start().catch((error: unknown) => error)
  assert.ok(error instanceof ProcessError)
  assert.match(error.message, /did not become healthy within 0\.5 s/)
  assert.deepEqual(error.log, ['up to nothing'])
  assert.deepEqual(place.gateways(), [])
})

test('fifty starts at once make one gateway', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const answers = await Promise.all(Array.from({ length: 50 }, () => supervisor.start()))
  assert.equal(new Set(answers.map(({ pid }) => pid)).size, 1)
  assert.equal(answers.filter(({ already_running: isOld }) => !isOld).length, 1)
  assert.deepEqual(place.gateways(), [answers[0]!.pid])
})

test('fifty starts at once that fail, fail once', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort, host: nowhere })
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => supervisor.start()))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  const log = await readFile(place.file('proxy.log'), 'utf8')
  assert.equal(log.match(/cannot listen on/g)?.length, 1)
})
