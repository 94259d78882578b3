import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faded } from './palette.ts'

test('a colour, fainter', () => {
  assert.equal(faded('rgb(1, 2, 3)', 0.2), 'rgb(1 2 3 / 0.200)')
  assert.equal(faded('rgba(1, 2, 3, 0.9)', 0.25), 'rgb(1 2 3 / 0.250)')
  assert.equal(faded('canvastext', 0.2), 'canvastext')
})
