import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedReader } from '../../../test/dashboard/scripted-reader.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { QueryOutcome } from '../../query/query-messages.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import { callTopic } from './call-topic.ts'

/** The answer of a question; null makes a fault. */
type Next = { ids: readonly string[]; skipped: number; lastSeq: number } | 'busy' | null

function follow() {
  const clock = new FakeClock()
  const questions: QueryQuestion[] = []
  const faults: unknown[] = []
  const followed = { clock, questions, faults, next: { ids: [], skipped: 0, lastSeq: 7 } as Next }
  const ask = async (question: QueryQuestion): Promise<QueryOutcome> => {
    questions.push(question)
    const { next } = followed
    if (next === null) throw new Error('a fault')
    if (next === 'busy') return { kind: 'unavailable', code: 'too_busy' }
    const { ids, skipped, lastSeq } = next
    const text = JSON.stringify({ calls: ids.map((id) => ({ id })), skipped, last_seq: lastSeq })
    return { kind: 'answer', format: 'json', body: Buffer.from(text), tag: text, nextCursor: null }
  }
  const topic = callTopic({ ask }, clock, (error) => faults.push(error))
  return Object.assign(followed, { topic })
}

const calls = (...ids: readonly string[]): object[] => ids.map((id) => ({ id }))

test('it begins where the calls end, and asks once a second for all readers', async () => {
  const followed = follow()
  const { topic, clock, questions } = followed
  const readers = [new ScriptedReader(), new ScriptedReader()]
  for (const reader of readers) topic.subscribe(reader)
  await clock.advance(0)
  assert.deepEqual(questions, [{ kind: 'ended', afterSeq: null }])
  followed.next = { ids: ['a', 'b'], skipped: 0, lastSeq: 9 }
  await clock.advance(1000)
  followed.next = { ids: [], skipped: 0, lastSeq: 9 }
  await clock.advance(1000)
  assert.deepEqual(questions.slice(1), [
    { kind: 'ended', afterSeq: 7 },
    { kind: 'ended', afterSeq: 9 },
  ])
  for (const { told } of readers) assert.deepEqual(told, [{ calls: calls('a', 'b'), skipped: 0 }])
})

test('nobody asks while nobody listens, and who comes then begins anew', async () => {
  const { topic, clock, questions } = follow()
  const leave = topic.subscribe(new ScriptedReader())
  await clock.advance(1000)
  leave()
  await clock.advance(10_000)
  assert.equal(questions.length, 2)
  topic.subscribe(new ScriptedReader())
  await clock.advance(0)
  assert.deepEqual(questions[2], { kind: 'ended', afterSeq: null })
})

test('a reader that is behind is told how many it missed', async () => {
  const followed = follow()
  const { topic, clock } = followed
  const [slow, quick] = [new ScriptedReader(), new ScriptedReader()]
  topic.subscribe(slow)
  topic.subscribe(quick)
  await clock.advance(0)
  slow.isBehind = true
  followed.next = { ids: ['a'], skipped: 4, lastSeq: 12 }
  await clock.advance(1000)
  followed.next = { ids: ['b', 'c'], skipped: 0, lastSeq: 14 }
  await clock.advance(1000)
  assert.deepEqual([slow.told, slow.waits, quick.told.length], [[], 1, 2])
  slow.catchUp()
  followed.next = { ids: ['d'], skipped: 0, lastSeq: 15 }
  await clock.advance(1000)
  assert.deepEqual(slow.told, [
    { calls: [], skipped: 7 },
    { calls: calls('d'), skipped: 0 },
  ])
})

test('what cannot be answered is asked again, from the same place', async () => {
  const followed = follow()
  const { topic, clock, questions, faults } = followed
  topic.subscribe(new ScriptedReader())
  await clock.advance(0)
  followed.next = 'busy'
  await clock.advance(1000)
  followed.next = null
  await clock.advance(1000)
  await clock.advance(1000)
  assert.deepEqual(
    questions.slice(1),
    Array.from({ length: 3 }, () => ({ kind: 'ended', afterSeq: 7 })),
  )
  assert.equal(faults.length, 2)
})
