import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { ClientUsage, MinuteUsage } from '../../call/call-sink.ts'
import { Failure } from '../../call/failure.ts'
import { unknownCaller } from './admission.ts'
import { type Owner, clientOwner, keyOwner, upstreamOwner } from './owner.ts'
import { type HandedUse, TokenWindows } from './token-windows.ts'

const key = '12345678'
const agent = { client: 'agent', keyFingerprint: null }
/** A predecessor of which no call used anything. */
const handed: HandedUse = { used: [], usedSinceMs: null, usedByOwners: [] }

function setUp(rejects = true, names: Readonly<Record<string, string>> = {}) {
  const clock = new FakeClock()
  const readOwners: (readonly string[])[] = []
  const reads: PromiseWithResolvers<readonly ClientUsage[] | null>[] = []
  const askedMinutes: (readonly [number, number])[] = []
  const readMinutes = Promise.withResolvers<readonly MinuteUsage[] | null>()
  const windows = new TokenWindows({
    clock,
    rejects,
    tokenLimit: 1000,
    sharedLimit: null,
    past: {
      usageByMinute: (...question) => {
        askedMinutes.push(question)
        return readMinutes.promise
      },
      usageOfClients: (of, at) => {
        readOwners.push([...of, ...at])
        const read = Promise.withResolvers<readonly ClientUsage[] | null>()
        reads.push(read)
        return read.promise
      },
    },
    keyNames: () => new Map(Object.entries(names)),
  })
  const limit = (limits: readonly (readonly [Owner, number])[]): void =>
    windows.setLimits(new Map(limits), [])
  const knowAll = (): void => void windows.restore(handed)
  const minute = Math.floor(clock.wallTime() / 60_000)
  const used = (client: string | null, keyFingerprint: string | null, tokens: number): ClientUsage => {
    return { client, keyFingerprint, upstreamName: null, minute, tokens }
  }
  const waiter = new AbortController()
  const outcome = (of: Parameters<TokenWindows['of']>, tokens: number): Promise<unknown> =>
    Promise.resolve()
      .then(() => windows.check(windows.of(...of), tokens, waiter))
      .then(
        () => 'admitted',
        (error: unknown) => (error instanceof Failure ? error.code : error),
      )
  const parts = { clock, windows, readOwners, reads, askedMinutes, readMinutes, limit, knowAll }
  return { ...parts, minute, used, waiter, outcome }
}

test('what was used before counts for whom it counts now: the key’s own, else the client’s', async () => {
  const { windows, readOwners, reads, limit, used, clock } = setUp(true, { abcdef01: 'agent' })
  limit([
    [clientOwner('agent'), 100],
    [keyOwner(key), 50],
  ])
  assert.deepEqual(readOwners[0]?.toSorted(), [key, 'abcdef01', 'agent'])
  const usedBy = () => [windows.usedBy(clientOwner('agent')), windows.usedBy(keyOwner(key))]
  assert.deepEqual(usedBy(), [null, null])
  // Of calls that end meanwhile.
  windows.add(windows.of(agent, null), 5, 0)
  reads[0]?.resolve([
    used('agent', null, 10),
    used('agent', key, 20),
    used(null, 'abcdef01', 30),
    used('agent', 'abcdef01', 1),
  ])
  await clock.advance(0)
  assert.deepEqual(usedBy(), [46, 20])
})

test('calls wait until it is known what was used, and are refused if that takes too long', async () => {
  const { windows, reads, limit, knowAll, used, clock, outcome, waiter } = setUp()
  knowAll()
  limit([[clientOwner('agent'), 100]])
  const late = outcome([agent, null], 1)
  assert.equal(await outcome([unknownCaller, null], 1), 'admitted', 'others do not wait')
  await clock.advance(10_000)
  assert.equal(await late, 'budget_unknown')
  const waiting = [outcome([agent, null], 40), outcome([agent, null], 41)]
  reads[0]?.resolve([used('agent', null, 60)])
  assert.deepEqual(await Promise.all(waiting), ['admitted', 'client_budget_exceeded'])
  assert.equal(clock.pending(), 0)
  const of = windows.of(agent, null)
  assert.throws(
    () => windows.check(of, 41, waiter),
    /Of the 100 tokens .* 60 are used; .*agent in clients\.json/,
  )
  // A limit that is changed holds at once, and what was used is not asked for again.
  limit([[clientOwner('agent'), 101]])
  assert.equal(windows.check(of, 41, waiter), null)
  using _held = windows.reserve(of, 41)
  assert.throws(() => windows.check(of, 1, waiter), /may use 41 more/)
})

test('nobody passes before the database has told what all used; who leaves waits no longer', async () => {
  const { windows, askedMinutes, readMinutes, minute, outcome, waiter, clock } = setUp()
  const restored = windows.restore({ ...handed, usedSinceMs: 7 })
  assert.deepEqual(askedMinutes, [[minute - 1440, 7]])
  const waiting = [outcome([unknownCaller, null], 930), outcome([unknownCaller, null], 931)]
  readMinutes.resolve([{ minute, tokens: 70 }])
  await restored
  assert.deepEqual(await Promise.all(waiting), ['admitted', 'token_budget_exceeded'])
  const other = setUp()
  void other.windows.restore({ ...handed, usedSinceMs: 7 })
  const leaving = other.outcome([unknownCaller, null], 1)
  await clock.advance(5000)
  const clientGone = new Failure('client_gone', 'The client left.')
  other.waiter.abort(clientGone)
  assert.equal(await leaving, 'client_gone')
  assert.equal(waiter.signal.aborted, false)
})

test('what a predecessor counted is not read again, and what was before it is', async () => {
  const { windows, readMinutes, askedMinutes, minute, clock } = setUp()
  const reported: HandedUse = { ...handed, used: [{ minute, tokens: 30 }], usedSinceMs: 5 }
  const restored = windows.restore(reported)
  const figures = () => windows.acrossGateways.snapshot(clock.wallTime())
  assert.deepEqual([figures().isKnown, figures().totalUsed], [false, 30])
  readMinutes.resolve([{ minute: minute - 1, tokens: 40 }])
  await restored
  assert.deepEqual([askedMinutes, figures().isKnown, figures().totalUsed], [[[minute - 1440, 5]], true, 70])
  const next = setUp()
  void next.windows.restore({ ...reported, usedSinceMs: null })
  assert.deepEqual([next.askedMinutes, next.windows.acrossGateways.isKnown], [[], true])
})

test('a database that is closed before it was read lets nobody in', async () => {
  const { windows, readMinutes, clock, outcome } = setUp()
  const restored = windows.restore({ ...handed, usedSinceMs: 7 })
  readMinutes.resolve(null)
  await restored
  const waiting = outcome([unknownCaller, null], 1)
  await clock.advance(10_000)
  assert.equal(await waiting, 'budget_unknown')
})

test('a budget that is only reported holds nobody up, and refuses nobody', () => {
  const { windows, limit, waiter } = setUp(false)
  limit([[clientOwner('agent'), 1]])
  const of = windows.of(agent, null)
  assert.deepEqual([windows.check(of, 100, waiter), windows.reserve(of, 100)], [null, null])
  assert.equal(windows.all.reserved, 0)
})

test('a limit that is gone is no limit, and one that comes back is read anew', async () => {
  const { windows, reads, limit, used, clock } = setUp()
  const usedBy = () => windows.usedBy(clientOwner('agent'))
  limit([[clientOwner('agent'), 100]])
  reads[0]?.resolve([used('agent', null, 60)])
  await clock.advance(0)
  limit([])
  assert.deepEqual(windows.of(agent, null), [windows.all])
  limit([[clientOwner('agent'), 100]])
  assert.equal(usedBy(), null)
  reads[1]?.resolve([used('agent', null, 70)])
  await clock.advance(0)
  assert.equal(usedBy(), 70)
})

test('what a predecessor tells is known at once, and what its calls use is added', () => {
  const { windows, readOwners, minute } = setUp()
  const owner = clientOwner('agent')
  windows.setLimits(new Map([[owner, 100]]), [{ owner, used: [{ minute, tokens: 12 }] }])
  assert.deepEqual([readOwners, windows.usedBy(owner)], [[], 12])
  windows.addElsewhere({ minute, tokens: 3, owners: [owner] })
  windows.addElsewhere({ minute, tokens: 3, owners: ['client:nobody'] })
  windows.addElsewhere({ minute, tokens: 3 })
  assert.equal(windows.usedBy(owner), 15)
  assert.deepEqual(
    windows.handover().usedByOwners.map((each) => [each.owner, each.used[0]?.tokens]),
    [[owner, 15]],
  )
})

test('a call counts in the windows of all, of its client and of its upstream, and reserves in all or none', async () => {
  const { windows, reads, limit, knowAll, clock, used, minute, waiter } = setUp()
  knowAll()
  limit([
    [clientOwner('agent'), 1000],
    [upstreamOwner('local'), 50],
  ])
  reads[0]?.resolve([
    used('agent', null, 5),
    { ...used('agent', null, 7), upstreamName: 'local' },
    { ...used(null, null, 3), upstreamName: 'local' },
  ])
  await clock.advance(0)
  assert.equal(windows.usedBy(upstreamOwner('other')), null)
  const of = windows.of(agent, 'local')
  assert.deepEqual(
    of.map(({ owner }) => [owner, windows.usedBy(owner)]),
    [
      ['all', null],
      ['client:agent', 12],
      ['upstream:local', 10],
    ],
  )
  assert.throws(
    () => windows.reserve(of, 41),
    (error) =>
      error instanceof Failure &&
      error.code === 'upstream_budget_exceeded' &&
      /token_limit of local in upstreams\.json/.test(error.message),
  )
  assert.equal(of.map(({ reserved }) => reserved).join(' '), '0 0 0')
  assert.deepEqual([windows.hasEnough('local', 40), windows.hasEnough('local', 41)], [true, false])
  const usages: MinuteUsage[] = []
  windows.all.watch({ added: (usage) => usages.push(usage), reserved: () => {} })
  windows.add(of, 4, 2)
  assert.deepEqual(usages, [{ minute, tokens: 6, estimated: 2, owners: ['client:agent', 'upstream:local'] }])
  assert.deepEqual([windows.usedBy(clientOwner('agent')), windows.usedBy(upstreamOwner('local'))], [18, 16])
  assert.equal(windows.check(of, 34, waiter), null)
})

test('a client that calls itself as a key, an upstream or another table does spends nobody else’s', () => {
  const { windows, limit } = setUp()
  limit([
    [keyOwner(key), 100],
    [clientOwner('upstream:local'), 100],
    [upstreamOwner('local'), 100],
  ])
  const owners = (client: string) =>
    windows
      .of({ client, keyFingerprint: null }, null)
      .slice(1)
      .map(({ owner }) => owner)
  for (const client of ['all', `key:${key}`, `client:${key}`, 'local', 'upstream', 'client:upstream:local']) {
    assert.deepEqual(owners(client), [], client)
  }
  assert.deepEqual(owners('upstream:local'), ['client:upstream:local'])
})

test('with a limit that gateways share, that one decides, and what this gateway knows is handed over', () => {
  const clock = new FakeClock()
  const past = { usageByMinute: () => Promise.resolve([]), usageOfClients: () => Promise.resolve([]) }
  const options = { clock, rejects: true, tokenLimit: 10, sharedLimit: 100, past, keyNames: () => new Map() }
  const windows = new TokenWindows(options)
  const of = windows.of(unknownCaller, null)
  windows.acrossGateways.learn([], true)
  windows.add(of, 60, 0)
  assert.equal(windows.check(of, 40, new AbortController()), null)
  assert.throws(() => windows.check(of, 41, new AbortController()))
  using _held = windows.reserve(of, 40)
  const nowMs = clock.wallTime()
  assert.deepEqual([windows.all.snapshot(nowMs).totalUsed, windows.all.reserved], [60, 0])
})
