import assert from 'node:assert/strict'
import { test } from 'node:test'
import { narrowAcceptEncoding } from './accept-encoding.ts'

const cases: readonly [received: string, forwarded: string][] = [
  ['gzip,deflate, br;q=0.5 ,zstd', 'gzip,deflate, br;q=0.5 ,zstd'],
  ['compress;q=1, gzip;q=0.2', 'gzip;q=0.2'],
  ['br;q=1.0, *;q=0.1', 'br;q=1.0, gzip;q=0.1, deflate;q=0.1, zstd;q=0.1'],
  ['gzip, *;q=0', 'gzip, br;q=0, deflate;q=0, zstd;q=0'],
]

for (const [received, forwarded] of cases) {
  test(`${JSON.stringify(received)} is narrowed to ${JSON.stringify(forwarded)}`, () => {
    assert.equal(narrowAcceptEncoding(received), forwarded)
  })
}
