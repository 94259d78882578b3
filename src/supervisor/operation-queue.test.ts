import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperationQueue } from './operation-queue.ts'

/** Operations that note when they begin, and end when told to. */
class Operations {
  readonly begun: string[] = []
  readonly #ends = new Map<string, PromiseWithResolvers<string>>()

  operation(name: string): () => Promise<string> {
    const end = Promise.withResolvers<string>()
    this.#ends.set(name, end)
    return () => {
      this.begun.push(name)
      return end.promise
    }
  }

  end(name: string): void {
    this.#ends.get(name)!.resolve(name)
  }

  fail(name: string): void {
    this.#ends.get(name)!.reject(new Error(name))
  }
}

test('operations run one after the other, in order', async () => {
  const queue = new OperationQueue()
  const operations = new Operations()
  const outcomes = ['a', 'b', 'c'].map((name) => queue.run(name, operations.operation(name)).outcome)
  operations.end('c')
  operations.end('a')
  assert.equal(await outcomes[0], 'a')
  assert.ok(!operations.begun.includes('c'))
  operations.end('b')
  assert.deepEqual(await Promise.all(outcomes), ['a', 'b', 'c'])
  assert.deepEqual(operations.begun, ['a', 'b', 'c'])
})

test('the same, asked for again while it runs or waits, runs once', async () => {
  const queue = new OperationQueue()
  const operations = new Operations()
  const first = queue.run('start', operations.operation('start'))
  const second = queue.run('start', operations.operation('again'))
  assert.deepEqual([first.isShared, second.isShared], [false, true])
  operations.end('start')
  assert.deepEqual(await Promise.all([first.outcome, second.outcome]), ['start', 'start'])
  assert.deepEqual(operations.begun, ['start'])
})

test('the same runs again behind something else, and when it is over', async () => {
  const queue = new OperationQueue()
  const queued = [
    queue.run('start', async () => 1),
    queue.run('stop', async () => 2),
    queue.run('start', async () => 3),
  ]
  assert.deepEqual(await Promise.all(queued.map(({ outcome }) => outcome)), [1, 2, 3])
  const later = queue.run('start', async () => 4)
  assert.equal(await later.outcome, 4)
  assert.ok([...queued, later].every(({ isShared }) => !isShared))
})

test('one that fails fails for all who share it, and the next runs', async () => {
  const queue = new OperationQueue()
  const operations = new Operations()
  const first = queue.run('start', operations.operation('start'))
  const second = queue.run('start', operations.operation('again'))
  const next = queue.run('stop', async () => 'stopped')
  operations.fail('start')
  await assert.rejects(first.outcome, /start/)
  await assert.rejects(second.outcome, /start/)
  assert.equal(await next.outcome, 'stopped')
})
