import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import { settingsOf } from './gateway-config.ts'
import { runningValues } from './running-values.ts'

const byDefault = Object.fromEntries(
  Object.entries(gatewayOptionTable).map(([key, spec]) => [key, spec.default]),
) as unknown as GatewayValues

test('a running gateway tells everything that it was started with', () => {
  const values: GatewayValues = {
    ...byDefault,
    port: 9191,
    upstream: 'http://127.0.0.1:8000/v1',
    maxConcurrent: 17,
    via: false,
    allowHost: ['a.example', 'b.example'],
  }
  assert.deepEqual(runningValues({ options: settingsOf(values), port: 9191 }), values)
})

test('its port is the one it got', () => {
  assert.equal(runningValues({ options: settingsOf({ ...byDefault, port: 0 }), port: 40_123 }).port, 40_123)
})

test('what it does not tell, or tells as something else, is as by default', () => {
  const options = { max_concurrent: '4', via: 1, allow_host: 'a', upstream: ['x'], unheard_of: 7 }
  assert.deepEqual(runningValues({ options, port: 1 }), { ...byDefault, port: 1 })
})
