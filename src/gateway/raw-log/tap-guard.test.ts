import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallRecord } from '../../call/call-record.ts'
import type { PayloadTap } from '../../call/payload-log.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { type GuardedTap, guardTap } from './tap-guard.ts'

const verbs = ['requestData', 'requestEnd', 'answerHead', 'answerData', 'ended'] as const
type Verb = (typeof verbs)[number]

const record = { model: 'sim-small', stream: true } as CallRecord

function noting(seen: unknown[][], failsAt: Verb | null): PayloadTap {
  const note =
    (verb: Verb) =>
    (...args: readonly unknown[]) => {
      if (verb === failsAt) throw new Error(`at ${verb}`)
      seen.push([verb, ...args])
    }
  const entries = verbs.map((verb) => [verb, note(verb)] as const)
  return Object.fromEntries(entries) as Record<Verb, () => void>
}

function showAll(guard: GuardedTap): void {
  guard.requestData(Buffer.from('{}'))
  guard.requestEnd('sim-small', true)
  guard.answerHead(200, ['A', 'b'])
  guard.answerData(Buffer.from('x'))
  guard.ended(record)
}

test('a tap sees every verb, in order, each piece with its time', () => {
  const seen: unknown[][] = []
  const clock = new FakeClock()
  showAll(guardTap(noting(seen, null), clock, assert.ifError))
  assert.deepEqual(seen, [
    ['requestData', Buffer.from('{}')],
    ['requestEnd', 'sim-small', true],
    ['answerHead', 200, ['A', 'b']],
    ['answerData', Buffer.from('x'), clock.now()],
    ['ended', record],
  ])
})

for (const failsAt of verbs) {
  test(`a tap that throws at ${failsAt} is detached and reported once`, () => {
    const seen: unknown[][] = []
    const reported: unknown[] = []
    showAll(guardTap(noting(seen, failsAt), new FakeClock(), (error) => reported.push(error)))
    assert.deepEqual(
      seen.map(([verb]) => verb),
      verbs.slice(0, verbs.indexOf(failsAt)),
    )
    assert.deepEqual(reported, [new Error(`at ${failsAt}`)])
  })
}
