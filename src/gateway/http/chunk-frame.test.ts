import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkFrame } from './client-response.ts'

for (const [length, size] of [
  [1, '1'],
  [15, 'f'],
  [16, '10'],
  [4096, '1000'],
] as const) {
  test(`a chunk of ${length} bytes says ${size}`, () => {
    const data = Buffer.alloc(length, 'x')
    assert.equal(chunkFrame(data).toString(), `${size}\r\n${data.toString()}\r\n`)
  })
}
