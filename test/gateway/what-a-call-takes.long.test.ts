import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/**
 * At most, of one call, more than a call that node:http alone answers. The program that counts has sixteen clients, whose
 * calls begin in the same turn. Who needs more says in `docs/internals/performance.md` what it costs.
 */
const limits = {
  json: {
    promises: 9.1,
    ticks: 1,
    timers: 0.05,
    immediates: 0.05,
    messages: 0.05,
    fileWrites: 0,
    bytes: 15_000,
  },
  stream: {
    promises: 9.1,
    ticks: 1,
    timers: 0.05,
    immediates: 0.05,
    messages: 0.05,
    fileWrites: 0,
    bytes: 39_500,
  },
}

for (const [kind, limit] of Object.entries(limits)) {
  test(`a ${kind} call takes no more objects, promises, timers, messages and writes than it did`, async () => {
    const program = fileURLToPath(new URL('../../bench/micro/calls.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [program, kind])
    const taken = JSON.parse(stdout) as typeof limit
    const over = Object.entries(limit).filter(([name, most]) => !(taken[name as keyof typeof limit] <= most))
    assert.deepEqual(over, [], stdout)
    // It was counted at all: no call is without a promise.
    assert.ok(taken.promises > 1 && taken.bytes > 1000, stdout)
  })
}
