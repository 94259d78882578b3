import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { WorkerHost } from './worker-host.ts'

type To = { readonly question: number; readonly text: string } | { readonly say: string }
type From = { readonly question: number; readonly text: string } | { readonly said: string }

/** Answers in capitals, repeats what is said, and dies of `die`. */
const source = `const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ question, text, say }) => {
  if (say === 'die') throw new Error('no more')
  parentPort.postMessage(say === undefined ? { question, text: text.toUpperCase() } : { said: say })
})`

function hosted() {
  const [clock, workers, told, deaths] = [new FakeClock(), [] as Worker[], [] as From[], [] as string[]]
  const host = new WorkerHost<To, From>({
    clock,
    start: () => {
      workers.push(new Worker(source, { eval: true }))
      return workers.at(-1)!
    },
    received: (message) => told.push(message),
    died: (reason) => deaths.push(reason),
  })
  return { clock, host, workers, told, deaths }
}

test('a thread is started when it is needed, and asked', async () => {
  const { host, workers, told } = hosted()
  await assert.rejects(host.ask({ text: 'a' }), /not running/)
  assert.equal(host.need(), true)
  assert.equal(host.need(), true)
  host.post({ say: 'hello' })
  const answers = await Promise.all([host.ask({ text: 'a' }), host.ask({ text: 'b' })])
  assert.equal(answers.map(({ text }) => text).join(' '), 'A B')
  assert.deepEqual(told, [{ said: 'hello' }, ...answers])
  assert.equal(workers.length, 1)
  host.end()
  assert.equal(host.need(), false)
})

test('one that dies is started again after longer and longer pauses, until it is well', async () => {
  const { clock, host, workers, deaths } = hosted()
  for (const pauseMs of [0, 100, 200, 400]) {
    host.need()
    clock.tick(Math.max(0, pauseMs - 1))
    assert.equal(host.isRunning, pauseMs === 0)
    clock.tick(1)
    assert.equal(host.isRunning, true)
    const exit = new Promise((resolve) => workers.at(-1)!.once('exit', resolve))
    host.post({ say: 'die' })
    await assert.rejects(host.ask({ text: 'a' }), /no more/)
    await exit
  }
  assert.deepEqual(deaths, ['no more', 'no more', 'no more', 'no more'])
  host.isWell()
  assert.equal(host.need(), true)
  host.end()
})

test('one that is killed has not died: the next is there at once', async () => {
  const { host, workers, deaths } = hosted()
  host.need()
  const answer = host.ask({ text: 'a' })
  host.kill()
  await assert.rejects(answer, /ended/)
  await once(workers[0]!, 'exit')
  assert.equal(host.need(), true)
  assert.equal((await host.ask({ text: 'b' })).text, 'B')
  assert.deepEqual([workers.length, deaths.length], [2, 0])
  host.end()
})

test('a process that cannot be started has died', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const host = new WorkerHost({
    clock: new FakeClock(),
    start: () => fork('none.js', { execPath: '/nowhere/node', stdio: 'ignore', serialization: 'advanced' }),
    received: () => {},
    died: resolve,
  })
  host.need()
  assert.match(await promise, /ENOENT|IPC/)
  host.end()
})
