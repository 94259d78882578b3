import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallObserver } from '../../call/call-observer.ts'
import { Failure } from '../../call/failure.ts'
import { ObserverGuard } from './observer-guard.ts'

const verbs = ['requestStart', 'responseStart', 'data', 'end', 'error'] as const
type Verb = (typeof verbs)[number]

function noting(seen: string[], name: string, failsAt: Verb | null = null): CallObserver {
  const note = (verb: Verb) => () => {
    if (verb === failsAt) throw new Error(`${name} at ${verb}`)
    seen.push(`${name} ${verb}`)
  }
  const entries = verbs.map((verb) => [verb, note(verb)] as const)
  return Object.fromEntries(entries) as Record<Verb, () => void>
}

function showAll(guard: CallObserver): void {
  guard.requestStart(1)
  guard.responseStart({ status: 200, statusText: '', contentLength: null, headers: [] }, 2)
  guard.data(Buffer.from('x'), 3)
  guard.end(4)
  guard.error(new Failure('upstream_reset', 'broke'), 5)
}

test('the observer sees every verb, in order', () => {
  const seen: string[] = []
  showAll(new ObserverGuard(noting(seen, 'a'), assert.ifError))
  assert.deepEqual(
    seen,
    verbs.map((verb) => `a ${verb}`),
  )
})

for (const failsAt of verbs) {
  test(`one that throws at ${failsAt} is detached and reported once`, () => {
    const seen: string[] = []
    const reported: unknown[] = []
    showAll(new ObserverGuard(noting(seen, 'bad', failsAt), (error) => reported.push(error)))
    assert.equal(seen.length, verbs.indexOf(failsAt))
    assert.deepEqual(reported, [new Error(`bad at ${failsAt}`)])
  })
}
