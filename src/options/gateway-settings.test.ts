import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayValues } from './gateway-options.ts'
import { defaultValues, liveIn, settingsOf, valuesIn } from './gateway-settings.ts'
import { settingName } from './option-spec.ts'

const cases = [
  ['nothing', {}, {}],
  ['what needs a restart', { port: 9, upstream: 'http://x/v1' }, {}],
  ['what is live', { max_concurrent: 9, token_limit: 5 }, { max_concurrent: 9, token_limit: 5 }],
  ['of both, what is live', { port: 9, slot_cooldown_ms: 0 }, { slot_cooldown_ms: 0 }],
] as const

for (const [what, settings, expected] of cases) {
  test(`a running gateway takes over ${what}`, () => {
    assert.deepEqual(liveIn(settings), expected)
  })
}

test('settings bear the names of the flags', () => {
  assert.equal(settingName('slot-cooldown-ms'), 'slot_cooldown_ms')
})

test('a running gateway tells everything that it was started with', () => {
  const values: GatewayValues = {
    ...defaultValues,
    port: 9191,
    upstream: 'http://127.0.0.1:8000/v1',
    maxConcurrent: 17,
    via: false,
    allowHost: ['a.example', 'b.example'],
  }
  assert.deepEqual(valuesIn(settingsOf(values)), values)
})

test('what it does not tell, or tells as something else, is left out', () => {
  const options = { max_concurrent: '4', via: 1, allow_host: 'a', upstream: ['x'], unheard_of: 7, port: 1 }
  assert.deepEqual(valuesIn({ ...options, queue_order: 'lifo' }), { port: 1 })
})
