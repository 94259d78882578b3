import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { type Endpoint, Replicas, type ReplicaAttempt } from './replicas.ts'
import { fieldsOf } from '../../../test/support/fields-of.ts'

function setUp(hosts: readonly string[], maxConcurrent = 4): { set: Replicas; clock: FakeClock; take: Take } {
  const clock = new FakeClock()
  const set = new Replicas(clock)
  set.set(endpoints(hosts), maxConcurrent)
  const take: Take = (session = null, tried = []) => {
    const taken = set.choose(session, new Set(tried))
    assert.ok(taken !== null)
    return Object.assign(taken, { host: taken.endpoint.base.host })
  }
  return { set, clock, take }
}

type Take = (session?: string | null, tried?: readonly string[]) => ReplicaAttempt & { readonly host: string }

function endpoints(hosts: readonly string[]): Map<string, Endpoint> {
  return new Map(hosts.map((host) => [`http://${host}`, { base: { host } } as Endpoint]))
}

test('a call goes where the fewest are in flight, and in turn where they are as many', () => {
  const { take } = setUp(['a', 'b', 'c'])
  const first = take()
  const second = take()
  assert.deepEqual([first.host, second.host, take().host], ['a', 'b', 'c'])
  second[Symbol.dispose]()
  assert.equal(take().host, 'b')
  first[Symbol.dispose]()
  assert.equal(take().host, 'a')
})

test('a session stays with the replica that knows it while that has a slot free', () => {
  const { take } = setUp(['a', 'b'])
  take()[Symbol.dispose]()
  const usual = take('s')
  assert.equal(usual.host, 'b')
  usual[Symbol.dispose]()
  take()
  const again = [take('s'), take('s')]
  // Of four slots two are for each: the third call goes elsewhere, and the session with it.
  assert.deepEqual([...again.map(({ host }) => host), take('s').host], ['b', 'b', 'a'])
})

test('one that cannot be reached is left alone for a second, twice as long each time, and a minute at most', () => {
  const { set, clock, take } = setUp(['a', 'b'])
  const hosts = (): ReadonlySet<string> => {
    const taken = [take(), take()]
    for (const each of taken) each[Symbol.dispose]()
    return new Set(taken.map(({ host }) => host))
  }
  const rests: number[] = []
  for (let times = 0; times < 8; times++) {
    const taken = [take(), take()]
    const failed = taken.find(({ host }) => host === 'a')
    failed?.failed('refused', true)
    // Calls that met the failure at the same time say nothing new.
    failed?.failed('refused', true)
    for (const each of taken) each[Symbol.dispose]()
    let restMs = 0
    for (; !hosts().has('a') && restMs < 100_000; restMs += 500) clock.tick(500)
    rests.push(restMs)
    set.set(endpoints(['a', 'b']), 4)
  }
  assert.deepEqual(rests, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  assert.equal(set.states()[0]?.problem, 'refused')
  for (const taken of [take(), take()]) taken.answered()
  assert.deepEqual(fieldsOf(set.states(), 'failingSinceMs'), [null, null])
})

test('where all rest a call still has one to go to, and it can be seen that they do', () => {
  const { set, take } = setUp(['a', 'b'])
  const first = take()
  first.failed('x', true)
  assert.equal(set.allUnreachable, false)
  const second = take(null, [first.url])
  second.failed('x', true)
  assert.equal(set.allUnreachable, true)
  assert.equal(take(null, [first.url]).host, 'b')
})

test('one that answers badly comes after the others until its first good answer, and is no reason to fall back', () => {
  const { set, clock, take } = setUp(['a', 'b'])
  const slow = take()
  const bad = take()
  bad.failed('The upstream answers 500.', false)
  bad[Symbol.dispose]()
  assert.deepEqual([slow.host, bad.host, take().host, take().host], ['a', 'b', 'a', 'a'])
  assert.equal(set.states()[1]?.problem, 'The upstream answers 500.')
  clock.tick(1000)
  const again = take()
  again.failed('The upstream answers 500.', false)
  again[Symbol.dispose]()
  slow.failed('The upstream answers 503.', false)
  assert.equal(set.allUnreachable, false, 'they answer')
  assert.equal(take().host, 'a', 'of two that failed, the one that failed less often')
  clock.tick(2000)
  const good = take()
  good.answered()
  good[Symbol.dispose]()
  assert.deepEqual([good.host, set.states()[1]?.failingSinceMs, take().host], ['b', null, 'b'])
})

test('a good answer to a call that is older than a failure says nothing new', () => {
  const { set, take } = setUp(['a'])
  const old = take()
  take().failed('x', false)
  old.answered()
  assert.equal(set.states()[0]?.problem, 'x')
  take().answered()
  assert.equal(set.states()[0]?.problem, null)
})

test('where all were tried there is none, also when they were changed meanwhile', () => {
  const { set, take } = setUp(['a', 'b', 'c'])
  const tried = new Set([take().url, take().url])
  set.set(endpoints(['a', 'b']), 4)
  assert.equal(set.choose(null, tried), null)
  set.set(endpoints(['a', 'd']), 4)
  assert.equal(take(null, [...tried]).host, 'd')
})

test('sessions are forgotten, the oldest first', () => {
  const { take } = setUp(['a', 'b'], 100_000)
  take('old')
  for (let i = 0; i < 10_000; i++) take(`s${i}`)
  take()
  const hosts = new Set([take('old').host, take('old').host])
  assert.equal(hosts.size, 1)
})
