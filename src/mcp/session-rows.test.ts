import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callJson } from '../../test/support/call-json.ts'
import { sessionsOf } from './session-rows.ts'

test('calls are added up by the session that they name, the latest first', () => {
  const at = (minute: number): string => `2026-11-21T06:0${minute}:00.000Z`
  const { rows, without } = sessionsOf([
    callJson({ session: 'b', started_at: at(4), model: 'm', client: null, cost_usd: null, failed: true }),
    callJson({ session: null, started_at: at(3) }),
    callJson({ session: 'a', started_at: at(2), model: 'm', client: 'c', cost_usd: 0.5, output_tokens: 3 }),
    callJson({ session: 'a', started_at: at(1), model: 'n', client: 'c', cost_usd: null, output_tokens: 4 }),
  ])
  assert.equal(without, 1)
  const told = rows.map(({ session, first, last, calls, errors, cost_usd: cost, models, clients }) => [
    [session, first, last, calls, errors, cost],
    [models, clients],
  ])
  assert.deepEqual(told, [
    [
      ['b', at(4), at(4), 1, 1, null],
      [['m'], []],
    ],
    [
      ['a', at(1), at(2), 2, 0, 0.5],
      [['m', 'n'], ['c']],
    ],
  ])
  assert.equal(rows[1]?.output_tokens, 7)
})
