import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBytes } from './format-bytes.ts'

test('sizes are told in the largest unit of which there is one', () => {
  const told: readonly (readonly [number, string])[] = [
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [1.6 * 2 ** 30, '1.6 GiB'],
    [5000 * 2 ** 40, '5000.0 TiB'],
  ]
  for (const [bytes, text] of told) assert.equal(formatBytes(bytes), text)
})
