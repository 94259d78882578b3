import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { ClientUsage } from '../../call/call-sink.ts'
import { Failure } from '../../call/failure.ts'
import { ClientLimits, ownersOf, type ClientSetting } from './client-limits.ts'
import { LocalAdmission } from './local-admission.ts'

const key = '12345678'

function setUp(rejects = true) {
  const clock = new FakeClock()
  const options = { maxConcurrent: 4, slotCooldownMs: 0, queueLimit: 10, queueTimeoutMs: 0 }
  const admission = new LocalAdmission({ clock, ...options })
  const asked: (readonly string[])[] = []
  const reads: PromiseWithResolvers<readonly ClientUsage[] | null>[] = []
  const limits = new ClientLimits({
    clock,
    admissions: () => [admission],
    rejects,
    usageOfClients: (of) => {
      asked.push(of)
      const read = Promise.withResolvers<readonly ClientUsage[] | null>()
      reads.push(read)
      return read.promise
    },
  })
  const apply = (settings: Readonly<Record<string, ClientSetting>>): void =>
    limits.apply(new Map(Object.entries(settings)))
  const minute = Math.floor(clock.wallTime() / 60_000)
  const used = (client: string | null, keyFingerprint: string | null, tokens: number): ClientUsage => {
    return { client, keyFingerprint, upstreamName: null, minute, tokens }
  }
  const usedBy = (client: string): number | null | undefined =>
    limits.report().find((use) => use.client === client)?.used_tokens
  return { clock, limits, asked, reads, apply, used, usedBy }
}

test('what was used before counts for whom it counts now: the key’s own, else the client’s', async () => {
  const { limits, asked, reads, apply, used, usedBy, clock } = setUp()
  apply({ agent: { token_limit: 100 }, [key]: { token_limit: 50 }, abcdef01: { name: 'agent' } })
  assert.deepEqual(asked[0]?.toSorted(), [key, 'abcdef01', 'agent'])
  assert.deepEqual([usedBy('agent'), usedBy(key)], [null, null])
  // Of calls that end meanwhile.
  limits.budgetsOf({ client: 'agent', keyFingerprint: null }, null)[0]?.budget.add(clock.wallTime(), 5)
  reads[0]?.resolve([
    used('agent', null, 10),
    used('agent', key, 20),
    used(null, 'abcdef01', 30),
    used('agent', 'abcdef01', 1),
  ])
  await clock.advance(0)
  assert.deepEqual([usedBy('agent'), usedBy(key)], [46, 20])
})

test('calls wait until it is known what was used, and are refused if that takes too long', async () => {
  const { limits, reads, apply, used, clock } = setUp()
  apply({ agent: { token_limit: 100 } })
  const budget = limits.budgetsOf({ client: 'agent', keyFingerprint: null }, null)[0] ?? null
  assert.ok(budget !== null)
  const outcome = (tokens: number): Promise<unknown> =>
    (budget.check(tokens) ?? Promise.resolve()).then(
      () => 'admitted',
      (error: unknown) => (error instanceof Failure ? error.code : error),
    )
  const late = outcome(1)
  await clock.advance(10_000)
  assert.equal(await late, 'budget_unknown')
  const waiting = [outcome(40), outcome(41)]
  reads[0]?.resolve([used('agent', null, 60)])
  assert.deepEqual(await Promise.all(waiting), ['admitted', 'client_budget_exceeded'])
  assert.throws(() => budget.check(41), /Of the 100 tokens .* 60 are used; .*agent in clients\.json/)
  // A limit that is changed holds at once, and what was used is not asked for again.
  apply({ agent: { token_limit: 101 } })
  assert.equal(budget.check(41), null)
  using _held = budget.reserve(41)
  assert.throws(() => budget.check(1), /may use 41 more/)
})

test('one that is only reported holds nobody up, and refuses nobody', () => {
  const { limits, apply } = setUp(false)
  apply({ agent: { token_limit: 1 } })
  const budget = limits.budgetsOf({ client: 'agent', keyFingerprint: null }, null)[0] ?? null
  assert.deepEqual([budget?.check(100), budget?.reserve(100)], [null, null])
})

test('a limit that is gone is no limit, and one that comes back is read anew', async () => {
  const { limits, reads, apply, used, usedBy, clock } = setUp()
  apply({ agent: { token_limit: 100, max_concurrent: 1 } })
  reads[0]?.resolve([used('agent', null, 60)])
  await clock.advance(0)
  apply({})
  assert.equal(limits.budgetsOf({ client: 'agent', keyFingerprint: null }, null)[0] ?? null, null)
  assert.deepEqual(limits.report(), [])
  apply({ agent: { token_limit: 100 } })
  assert.equal(usedBy('agent'), null)
  reads[1]?.resolve([used('agent', null, 70)])
  await clock.advance(0)
  assert.equal(usedBy('agent'), 70)
})

test('what a predecessor tells is known at once, and what its calls use is added', () => {
  const { limits, asked, used, usedBy } = setUp()
  const settings = new Map([['agent', { token_limit: 100 }]])
  limits.apply(settings, [{ of: 'agent', used: [used(null, null, 12)] }])
  assert.deepEqual([asked, usedBy('agent')], [[], 12])
  limits.used({ ...used(null, null, 3), of: 'agent' })
  limits.used({ ...used(null, null, 3), of: 'nobody' })
  limits.used(used(null, null, 3))
  assert.equal(usedBy('agent'), 15)
  assert.deepEqual(
    limits.handover().map(({ of, used }) => [of, used[0]?.tokens]),
    [['agent', 15]],
  )
})

test('a key’s calls are named as a person says', () => {
  const { limits, apply } = setUp()
  assert.equal(limits.nameOf(key), null)
  apply({ [key]: { name: 'night job' } })
  assert.deepEqual(
    [limits.nameOf(key), limits.nameOf('00000000'), limits.nameOf(null)],
    ['night job', null, null],
  )
})

test('the tokens of an upstream are those of all calls there, beside those of their client', async () => {
  const { limits, reads, apply, clock, used } = setUp()
  apply({ agent: { token_limit: 1000 } })
  limits.applyUpstreams(new Map([['local', 50]]))
  reads[0]?.resolve([used('agent', null, 5), { ...used('agent', null, 7), upstreamName: 'local' }])
  reads[1]?.resolve([
    { ...used(null, null, 3), upstreamName: 'local' },
    { ...used('agent', null, 7), upstreamName: 'local' },
  ])
  await clock.advance(0)
  assert.equal(limits.usedAt('local'), 10)
  assert.equal(limits.usedAt('other'), null)
  const both = limits.budgetsOf({ client: 'agent', keyFingerprint: null }, 'local')
  assert.deepEqual(
    both.map(({ budget }) => budget.snapshot(clock.wallTime()).totalUsed),
    [12, 10],
  )
  assert.deepEqual(ownersOf(both), { of: 'agent', at: 'local' })
  assert.throws(
    () => both[1]?.check(41),
    (error) =>
      error instanceof Failure &&
      error.code === 'upstream_budget_exceeded' &&
      /token_limit of local in upstreams\.json/.test(error.message),
  )
  // What a gateway before this one finished counts, too.
  limits.used({ minute: Math.floor(clock.wallTime() / 60_000), tokens: 4, at: 'local' })
  assert.equal(limits.usedAt('local'), 14)
  limits.applyUpstreams(new Map())
  assert.equal(limits.budgetsOf({ client: null, keyFingerprint: null }, 'local').length, 0)
})

test('a client that calls itself as a key, an upstream or another table does spends nobody else’s', () => {
  const { limits, apply, reads, used, usedBy, clock } = setUp()
  apply({ [key]: { token_limit: 100 }, 'upstream:local': { token_limit: 100 } })
  limits.applyUpstreams(new Map([['local', 100]]))
  for (const read of reads) read.resolve([used(null, null, 0)])
  const owners = (client: string) =>
    limits.budgetsOf({ client, keyFingerprint: null }, null).map(({ name }) => name)
  for (const client of [key, `key:${key}`, `client:${key}`, 'local', 'upstream', 'client:upstream:local']) {
    assert.deepEqual(owners(client), [], client)
  }
  const [own] = limits.budgetsOf({ client: 'upstream:local', keyFingerprint: null }, null)
  own?.budget.add(clock.wallTime(), 7)
  assert.equal(limits.budgetAt('local')?.budget.snapshot(clock.wallTime()).totalUsed, 0)
  assert.throws(
    () => own?.budget.check(clock.wallTime(), 200),
    (error) => !(error instanceof Failure) || error.code === 'client_budget_exceeded',
  )
  assert.equal(usedBy('upstream:local'), null)
})

test('over a restart a client’s tokens are not an upstream’s of the same name', async () => {
  const { limits, apply, clock, reads } = setUp()
  apply({ local: { token_limit: 100 }, 'upstream:local': { token_limit: 100 } })
  limits.applyUpstreams(new Map([['local', 100]]))
  for (const read of reads) read.resolve([])
  await clock.advance(0)
  const caller = { client: 'upstream:local', keyFingerprint: null }
  limits.budgetsOf(caller, null)[0]?.budget.add(clock.wallTime(), 7)
  limits.budgetAt('local')?.budget.add(clock.wallTime(), 5)
  const next = setUp()
  const told = limits.handover()
  next.limits.apply(new Map([['local', { token_limit: 100 }]]), told)
  next.limits.applyUpstreams(new Map([['local', 100]]), told)
  assert.deepEqual([next.usedBy('local'), next.limits.usedAt('local')], [0, 5])
})
