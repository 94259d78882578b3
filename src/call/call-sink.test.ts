import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callStart, chatCall } from '../../test/store/sample-call.ts'
import { type CallSink, fanOut } from './call-sink.ts'

class NotingSink implements CallSink {
  readonly told: string[] = []
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  async begin(): Promise<void> {
    this.told.push('begin')
  }

  finish(): void {
    this.told.push('finish')
  }

  lose(): void {
    this.told.push('lose')
  }

  figures(): ReturnType<CallSink['figures']> {
    return { written: this.told.length, pending: 0, dropped: 0 }
  }

  warnings(): ReturnType<CallSink['warnings']> {
    return [{ code: this.#name, message: '' }]
  }
}

test('one sink is passed through', () => {
  const sink = new NotingSink('store')
  assert.equal(fanOut(sink), sink)
})

test('every sink is told all; figures are those of the first, warnings those of all', async () => {
  const [store, metrics, traces] = ['store', 'metrics', 'traces'].map((name) => new NotingSink(name))
  const sink = fanOut(store!, metrics!, traces!)
  await sink.begin(callStart())
  sink.finish(chatCall())
  sink.lose(null)
  for (const { told } of [store!, metrics!, traces!]) assert.deepEqual(told, ['begin', 'finish', 'lose'])
  assert.equal(sink.figures().written, 3)
  assert.deepEqual(
    sink.warnings().map(({ code }) => code),
    ['store', 'metrics', 'traces'],
  )
})

test('a sink that throws keeps no call from the others, and is told no more', () => {
  const [store, broken, traces] = ['store', 'broken', 'traces'].map((name) => new NotingSink(name))
  let times = 0
  broken!.finish = () => {
    times++
    throw new Error('no room')
  }
  const sink = fanOut(store!, broken!, traces!)
  for (let call = 0; call < 3; call++) sink.finish(chatCall())
  assert.deepEqual([store!.told.length, times, traces!.told.length], [3, 1, 3])
  assert.deepEqual(
    sink.warnings().map(({ code }) => code),
    ['store', 'traces', 'sink_failed'],
  )
})
