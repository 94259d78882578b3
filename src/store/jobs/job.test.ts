import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseMs } from './job.ts'

test('the pause after a slice lets in whoever began to wait within it', () => {
  // SQLite's own delays between tries: https://sqlite.org/src/file/src/main.c, sqliteDefaultBusyCallback
  const triesMs = [0, 1, 3, 8, 18, 33]
  for (let tookMs = 0; tookMs <= 20; tookMs += 0.5) {
    for (let leftMs = 0; leftMs <= tookMs; leftMs += 0.5) {
      const tryMs = triesMs.find((at) => at >= leftMs) ?? 1000
      assert.ok(tryMs - leftMs <= pauseMs, `${leftMs} of ${tookMs} ms: next try at ${tryMs}`)
    }
  }
})
