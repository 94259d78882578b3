import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startCommandProcess } from '../support/command-process.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`an import from standard input that ${signal} ends leaves no copy of it behind`, async () => {
    await using dir = await makeTempDir()
    mkdirSync(dir.file('tmp'))
    const child = spawn(process.execPath, [command, 'db', 'import', '-'], {
      cwd: dir.path,
      env: { ...process.env, TMPDIR: dir.file('tmp') },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.stdin.on('error', () => {})
    child.stdin.write('{"request_id": "r-1", ')
    await eventually('the copy is begun', () => readdirSync(dir.file('tmp'), { recursive: true }).length > 1)
    child.kill(signal)
    assert.deepEqual(await once(child, 'close'), [null, signal])
    assert.deepEqual(readdirSync(dir.file('tmp')), [])
  })
}

test('an import that a signal ends leaves no copy of the older database and its log behind', async () => {
  await using dir = await makeTempDir()
  for (const name of ['tmp', 'live', 'copied']) mkdirSync(dir.file(name))
  using live = new DatabaseSync(dir.file('live/calls.db'))
  live.exec(`PRAGMA journal_mode = wal; CREATE TABLE api_calls (id INTEGER PRIMARY KEY, timestamp TEXT NOT NULL, model TEXT,
    endpoint TEXT, input_tokens INTEGER, output_tokens INTEGER, total_ms REAL, status_code INTEGER);
    INSERT INTO api_calls WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)
    SELECT i, '2026-05-01T12:00:00.000Z', 'm', '/v1/chat/completions', 1, 1, 5, 200 FROM n`)
  for (const end of ['', '-wal'])
    copyFileSync(dir.file(`live/calls.db${end}`), dir.file(`copied/calls.db${end}`))
  await using running = startCommandProcess({
    args: ['db', 'import', dir.file('copied/calls.db')],
    directory: dir.path,
    env: { TMPDIR: dir.file('tmp') },
  })
  await eventually('the copy is made', () => readdirSync(dir.file('tmp'), { recursive: true }).length > 1)
  assert.deepEqual(await running.stop('SIGINT'), { code: null, signal: 'SIGINT' })
  assert.deepEqual(readdirSync(dir.file('tmp')), [])
})
