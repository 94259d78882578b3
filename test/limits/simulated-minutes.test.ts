import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scene, play } from './simulated-minutes.ts'

const set = { max_rpm: 500, max_tpm: 100_000 }

test('with nothing set, forty clients that want three times as much meet many 429s', async () => {
  assert.ok((await play({})).refused > 50)
})

const kept: readonly (readonly [what: string, scene: Scene, leastUsed: number])[] = [
  ['limits that are set', { set }, 0.95],
  ['limits that are set, with clients that take turns', { set, order: 'fair' }, 0.95],
  [
    'limits that are set, and one client with a limit of its own',
    { set, ofFirstClient: { max_rpm: 1 } },
    0.95,
  ],
  ['limits that are set, and calls that do not say how much they may use', { set, tellsMost: false }, 0.93],
  ['limits that the provider tells', { learns: true }, 0.93],
]
for (const [what, scene, leastUsed] of kept) {
  for (const seed of [1, 2, 3]) {
    test(`${what}: no 429, nearly all is used, and nobody waits much longer than need be (seed ${seed})`, async () => {
      const ideal = await play({ isIdeal: true, seed })
      const outcome = await play({ ...scene, seed })
      assert.equal(outcome.refused, 0)
      assert.ok(outcome.used >= leastUsed, JSON.stringify(outcome))
      assert.ok(outcome.fullestRequests <= 500 && outcome.fullestTokens <= 100_000, JSON.stringify(outcome))
      const ratio = outcome.longestWaitMs / ideal.longestWaitMs
      assert.ok(ratio <= 1.15, `waits are ${ratio} times those of an ideal scheduler`)
    })
  }
}

for (const seed of [1, 2, 3]) {
  test(`a provider that tells only how long to wait is called at its pace soon (seed ${seed})`, async () => {
    const outcome = await play({ learns: true, isHonest: false, seed })
    assert.ok(outcome.refused <= 0.05 * outcome.calls && outcome.used >= 0.85, JSON.stringify(outcome))
    const tried = await play({ learns: true, isHonest: false, retries: 3, seed })
    assert.equal(tried.refused, 0)
  })
}
