import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { FakeClock } from '../../test/support/fake-clock.ts'
import type { QueryReply, ToQuery } from './query-messages.ts'
import { QueryProcess } from './query-process.ts'
import type { QueryQuestion } from './query-question.ts'

/** A process that does as it is told. */
class Scripted extends EventEmitter {
  readonly pid = 1
  readonly questions: ToQuery[] = []
  killed = false

  ref(): void {}

  unref(): void {}

  ready(): void {
    this.emit('message', { kind: 'ready' })
  }

  send(question: ToQuery): void {
    this.questions.push(question)
  }

  kill(): void {
    this.killed = true
    this.emit('exit', null, 'SIGKILL')
  }
}

const question = (id: number): QueryQuestion => ({ kind: 'call', id })
const answer = (text: string): QueryReply => ({
  kind: 'answer',
  format: 'json',
  body: Buffer.from(text),
  tag: text,
  nextCursor: null,
})

function startScripted(limit = 64) {
  const clock = new FakeClock()
  const processes: Scripted[] = []
  const faults: unknown[] = []
  const queries = new QueryProcess({
    clock,
    limit,
    onFault: (error) => faults.push(error),
    spawn: () => {
      processes.push(new Scripted())
      return processes.at(-1) as unknown as ChildProcess
    },
  })
  const reply = (one: QueryReply, process = -1): void => {
    processes.at(process)!.emit('message', one)
  }
  const askFirst = (id: number): ReturnType<QueryProcess['ask']> => {
    const outcome = queries.ask(question(id))
    processes[0]!.ready()
    return outcome
  }
  return { clock, queries, processes, faults, reply, askFirst }
}

const codeOf = async (outcome: ReturnType<QueryProcess['ask']>): Promise<string> => {
  const known = await outcome
  return known.kind === 'answer' ? known.tag : known.code
}

test('nothing is started before the first question, and one is asked at a time', async () => {
  const { queries, processes, reply, askFirst } = startScripted()
  assert.equal(processes.length, 0)
  const outcomes = [askFirst(1), queries.ask(question(2))]
  assert.deepEqual([processes.length, processes[0]!.questions.length], [1, 1])
  reply(answer('one'))
  assert.equal(processes[0]!.questions.length, 2)
  reply(answer('two'))
  assert.deepEqual(await Promise.all(outcomes.map(codeOf)), ['one', 'two'])
})

test('payloads are asked for anew each time', async () => {
  const { queries, processes, reply } = startScripted()
  const payloads: QueryQuestion = { kind: 'payloads', id: 1, filePath: '/p.jsonl', logging: true }
  const first = queries.ask(payloads)
  processes[0]!.ready()
  reply(answer('a'))
  assert.deepEqual(await first, answer('a'))
  const second = queries.ask(payloads)
  reply(answer('b'))
  assert.deepEqual(await second, answer('b'))
  assert.equal(processes[0]?.questions.length, 2)
  queries.close()
})

test('who asks the same within a second shares the answer', async () => {
  const { clock, queries, processes, reply, askFirst } = startScripted()
  const first = askFirst(1)
  assert.equal(queries.ask(question(1)), first)
  clock.tick(900)
  reply(answer('one'))
  await clock.advance(99)
  assert.equal(queries.ask(question(1)), first)
  await clock.advance(1)
  assert.notEqual(queries.ask(question(1)), first)
  assert.equal(processes[0]!.questions.length, 2)
})

test('after a job has changed calls, the same question is asked anew', async () => {
  const { queries, reply, askFirst } = startScripted()
  const before = askFirst(1)
  reply(answer('before'))
  assert.equal(await codeOf(before), 'before')
  queries.forgetAnswers()
  const after = queries.ask(question(1))
  reply(answer('after'))
  assert.equal(await codeOf(after), 'after')
})

test('beyond the limit, questions are turned away, and not for a second', async () => {
  const { clock, queries, reply, askFirst } = startScripted(2)
  const taken = [askFirst(1), queries.ask(question(2))]
  assert.equal(await codeOf(queries.ask(question(3))), 'too_busy')
  reply(answer('one'))
  reply(answer('two'))
  await Promise.all(taken)
  await clock.advance(0)
  const again = queries.ask(question(3))
  reply(answer('three'))
  assert.equal(await codeOf(again), 'three')
})

test('a process that overruns is killed, and the next question gets a new one at once', async () => {
  const { clock, queries, processes, faults, reply, askFirst } = startScripted()
  const slow = askFirst(1)
  clock.tick(1000)
  const next = queries.ask(question(2))
  assert.equal(processes[0]!.questions[0]!.budgetMs, 5000)
  clock.tick(4499)
  assert.equal(processes[0]!.killed, false)
  clock.tick(1)
  assert.equal(processes[0]!.killed, true)
  assert.equal(await codeOf(slow), 'too_slow')
  // The second one of the three has not got ready yet.
  assert.equal(processes.length, 3)
  processes[2]!.ready()
  assert.equal(processes[1]!.questions.length, 0)
  // The next question waited for 4.5 of its 5 seconds.
  assert.equal(processes[2]!.questions[0]!.budgetMs, 500)
  processes[0]!.emit('message', answer('late'))
  reply(answer('two'))
  assert.equal(await codeOf(next), 'two')
  assert.deepEqual(faults, [])
})

test('who waits behind a slow question is answered by a second process, which stays', async () => {
  const { clock, queries, processes, reply, askFirst } = startScripted()
  const slow = askFirst(1)
  const others = [queries.ask(question(2)), queries.ask(question(3))]
  clock.tick(249)
  assert.equal(processes.length, 1)
  clock.tick(1)
  assert.deepEqual([processes.length, processes[1]!.questions.length], [2, 0])
  clock.tick(100)
  processes[1]!.ready()
  reply(answer('two'), 1)
  reply(answer('three'), 1)
  assert.deepEqual(await Promise.all(others.map(codeOf)), ['two', 'three'])
  assert.equal(processes[1]!.questions.map(({ budgetMs }) => budgetMs).join(' '), '4650 4650')
  const next = queries.ask(question(4))
  reply(answer('four'), 1)
  assert.equal(await codeOf(next), 'four')
  reply(answer('one'), 0)
  assert.equal(await codeOf(slow), 'one')
  const last = queries.ask(question(5))
  reply(answer('five'), 0)
  assert.equal(await codeOf(last), 'five')
  queries.close()
  assert.equal(processes.map(({ killed }) => killed).join(' '), 'true true')
})

test('a short wait starts no second process', async () => {
  const { clock, queries, processes, reply, askFirst } = startScripted()
  const outcomes = [askFirst(1), queries.ask(question(2))]
  clock.tick(200)
  reply(answer('one'))
  reply(answer('two'))
  await Promise.all(outcomes)
  clock.tick(10_000)
  assert.equal(processes.length, 1)
})

test('the time of the first start is nobody’s: a question has all of its own after it', async () => {
  const { clock, queries, processes, reply } = startScripted()
  queries.start()
  assert.equal(processes.length, 1)
  const outcomes = [queries.ask(question(1)), queries.ask(question(2))]
  clock.tick(29_000)
  processes[0]!.ready()
  assert.equal(processes[0]!.questions[0]!.budgetMs, 5000)
  clock.tick(1000)
  reply(answer('one'), 0)
  assert.equal(processes[0]!.questions[1]!.budgetMs, 4000)
  clock.tick(4499)
  assert.equal(processes[0]!.killed, false)
  clock.tick(1)
  assert.deepEqual(await Promise.all(outcomes.map(codeOf)), ['one', 'too_slow'])
  assert.equal(processes[0]!.killed, true)
})

test('a process that does not start within half a minute is given up', async () => {
  const { clock, queries, processes, faults } = startScripted()
  const outcome = queries.ask(question(1))
  clock.tick(29_999)
  assert.equal(processes[0]!.killed, false)
  clock.tick(1)
  assert.equal(processes[0]!.killed, true)
  assert.equal(await codeOf(outcome), 'interrupted')
  assert.match(String(faults[0]), /did not start within 30 seconds/)
})

test('a question that has waited for too long is not asked any more', async () => {
  const { clock, queries, processes, reply, askFirst } = startScripted()
  const slow = askFirst(1)
  const next = queries.ask(question(2))
  clock.tick(5000)
  reply(answer('one'), 0)
  assert.deepEqual([await codeOf(slow), await codeOf(next)], ['one', 'too_busy'])
  assert.equal(processes[0]!.questions.length, 1)
})

test('a fault of the process rejects, and is not shared for long', async () => {
  const { clock, queries, reply, askFirst } = startScripted()
  const failing = askFirst(1)
  reply({ kind: 'fault', message: 'no such column' })
  await assert.rejects(failing, /the query process failed: no such column/)
  await clock.advance(0)
  const again = queries.ask(question(1))
  reply(answer('one'))
  assert.equal(await codeOf(again), 'one')
})
