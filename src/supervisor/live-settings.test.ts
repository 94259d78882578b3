import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveSettings } from './live-settings.ts'

const cases = [
  ['nothing', {}, null],
  ['what needs a restart', { port: 9, upstream: 'http://x/v1' }, null],
  ['what is live', { max_concurrent: 9, token_limit: 5 }, { max_concurrent: 9, token_limit: 5 }],
  ['of both, what is live', { port: 9, slot_cooldown_ms: 0 }, { slot_cooldown_ms: 0 }],
] as const

for (const [what, settings, expected] of cases) {
  test(`a running gateway takes over ${what}`, () => {
    assert.deepEqual(liveSettings(settings), expected)
  })
}
