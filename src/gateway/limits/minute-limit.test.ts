import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MinuteLimit } from './minute-limit.ts'

const minuteMs = 60_000

type Wanted = readonly (readonly [restMs: number, amount: number])[]

/** All that is taken when it may be, one after the other: when, and how much. */
function run(limit: MinuteLimit, requests: Wanted): [number, number][] {
  let nowMs = 1_000_000
  return requests.map(([restMs, amount]) => {
    nowMs += restMs
    for (let wait = limit.waitMs(nowMs, amount); wait > 0; wait = limit.waitMs(nowMs, amount)) nowMs += wait
    limit.add(nowMs, nowMs, amount)
    return [nowMs, amount]
  })
}

/** The most of any minute that ends with something taken. */
function fullestMinute(taken: readonly (readonly [number, number])[]): number {
  let fullest = 0
  let from = 0
  let sum = 0
  for (const [atMs, amount] of taken) {
    sum += amount
    while (taken[from]![0] <= atMs - minuteMs) sum -= taken[from++]![1]
    fullest = Math.max(fullest, sum)
  }
  return fullest
}

test('in no sliding minute goes more than the limit, whatever comes when', () => {
  const requests = fc.array(
    fc.tuple(fc.constantFrom(0, 0, 0, 1, 40, 900, 20_000, 90_000), fc.integer({ min: 1, max: 8000 })),
    { maxLength: 400 },
  )
  fc.assert(
    fc.property(requests, fc.constantFrom(8000, 10_000, 100_000), (all, most) => {
      assert.ok(fullestMinute(run(new MinuteLimit(most), all)) <= most + 1e-6)
    }),
  )
})

test('calls that take up to a tenth of a second to arrive are never over at the provider either', () => {
  const requests = fc.array(fc.tuple(fc.constantFrom(0, 0, 40, 900), fc.integer({ min: 1, max: 8000 })), {
    minLength: 60,
    maxLength: 120,
  })
  const travelMs = fc.array(fc.constantFrom(0, 1, 50, 99), { minLength: 120, maxLength: 120 })
  fc.assert(
    fc.property(requests, travelMs, (all, travels) => {
      const sent = run(new MinuteLimit(100_000), all)
      const arrived = sent
        .map(([atMs, amount], at): [number, number] => [atMs + travels[at]!, amount])
        .toSorted(([a], [b]) => a - b)
      assert.ok(fullestMinute(arrived) <= 100_000 + 1e-6)
    }),
  )
})

test('calls that wait for a connection count from when they are sent', () => {
  const requests = fc.array(
    fc.record({
      restMs: fc.constantFrom(0, 0, 40, 900),
      amount: fc.integer({ min: 1, max: 8000 }),
      connectMs: fc.constantFrom(0, 0, 5, 300, 4000),
    }),
    { minLength: 60, maxLength: 120 },
  )
  fc.assert(
    fc.property(requests, (all) => {
      const limit = new MinuteLimit(100_000)
      const sent: [number, number][] = []
      let open: { readonly takenMs: number; readonly sentMs: number; readonly amount: number }[] = []
      let nowMs = 1_000_000
      const advance = (ms: number): void => {
        nowMs += ms
        const isSent = ({ sentMs }: { readonly sentMs: number }): boolean => sentMs <= nowMs
        for (const { takenMs, sentMs, amount } of open.filter(isSent)) {
          limit.move(sentMs, takenMs, amount)
          sent.push([sentMs, amount])
        }
        open = open.filter((each) => !isSent(each))
      }
      for (const { restMs, amount, connectMs } of all) {
        advance(restMs)
        for (let wait = 1; wait > 0;) {
          wait = limit.waitMs(nowMs, amount)
          if (wait > 0) advance(Math.min(wait, ...open.map(({ sentMs }) => sentMs - nowMs)))
        }
        limit.add(nowMs, nowMs, amount)
        open.push({ takenMs: nowMs, sentMs: nowMs + connectMs, amount })
        advance(0)
      }
      advance(4000)
      sent.sort(([a], [b]) => a - b)
      assert.ok(fullestMinute(sent) <= 100_000 + 1e-6)
      const total = sent.reduce((sum, [, amount]) => sum + amount, 0)
      assert.equal(limit.total, total)
    }),
    { numRuns: 10 },
  )
})

for (const [what, most, amount] of [
  ['500 requests', 500, 1],
  ['3 requests', 3, 1],
  ['100,000 tokens', 100_000, 3000],
] as const) {
  test(`nearly all of a limit of ${what} is used where more is wanted`, () => {
    const wanted = Array.from({ length: Math.ceil((most / amount) * 5) }, () => [0, amount] as const)
    const taken = run(new MinuteLimit(most), wanted)
    const [startMs] = taken[0]!
    const used = taken.filter(([atMs]) => atMs < startMs + 3 * minuteMs).length * amount
    assert.ok(used >= 3 * most * 0.95, `${used} of ${3 * most}`)
  })
}

test('nothing waits after a rest, and a burst beyond a twentieth goes evenly', () => {
  const wanted = Array.from({ length: 130 }, () => [0, 1] as const)
  const taken = run(new MinuteLimit(600), wanted)
  const waits = taken.map(([atMs], at) => atMs - (taken[at - 1]?.[0] ?? atMs))
  assert.deepEqual(new Set(waits.slice(0, 30)), new Set([0]))
  for (const wait of waits.slice(31)) assert.ok(Math.abs(wait - 100) < 1, String(wait))
})

test('what is put right counts in its own minute, and gives room back', () => {
  const limit = new MinuteLimit(1000)
  limit.add(1_000_000, 1_000_000, 1000)
  assert.ok(limit.waitMs(1_000_000, 500) > 50_000)
  limit.correct(1_001_000, 1_000_000, -900)
  assert.equal(limit.used(1_001_000), 100)
  assert.ok(limit.waitMs(1_001_000, 500) < 6000)
  limit.correct(1_002_000, 1_000_000, 100)
  assert.equal(limit.used(1_002_000), 200)
  assert.equal(limit.used(1_061_000), 0)
  limit.correct(1_070_000, 1_000_000, 500)
  assert.equal(limit.used(1_070_000), 0)
})

test('what is larger than the limit goes when a whole minute is free', () => {
  const wanted = [5000, 10, 5000].map((amount) => [0, amount] as const)
  const taken = run(new MinuteLimit(1000), wanted)
  assert.ok(taken[1]![0] - taken[0]![0] >= minuteMs)
})
