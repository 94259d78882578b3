import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ownCommand } from '../../src/cli/gateway-command.ts'
import { backUpStore } from '../../src/store/jobs/back-up-store.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { nowMs, writeDatabase } from '../dashboard/query-database.ts'
import { chatCall } from '../store/sample-call.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const [program = '', ...first] = ownCommand

test('a backup of a gateway that runs has all calls until then, and can be put in its place', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const directory = dir.file('data')
  mkdirSync(directory)
  writeFileSync(`${directory}/clients.json`, '{"batch":{"max_concurrent":2}}')
  writeFileSync(`${directory}/notes.json`, '{"1":{"at":"2026-11-21T12:00:00.000Z","text":"deployed"}}')
  const call = async (baseUrl: string): Promise<void> => {
    const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
    assert.equal(answer.status, 200)
    await answer.arrayBuffer()
  }
  let before: readonly string[] = []
  {
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, directory })
    for (let index = 0; index < 5; index++) await call(gateway.baseUrl)
    before = (await recordedCalls(gateway, 5)).map(({ id }) => id)
    // Calls go on meanwhile.
    const args = [...first, 'db', 'backup', 'kept.db', '--db', gateway.databaseFile]
    const backup = spawn(program, args, { cwd: dir.path, stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    backup.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    let made = 5
    const closed = once(backup, 'close')
    for (; backup.exitCode === null; made++) await call(gateway.baseUrl)
    await closed
    assert.equal(backup.exitCode, 0)
    assert.match(
      printed,
      /^kept\.db: \d+ calls, [\d.]+ kB, copied and checked\.\nkept\.db\.files: (?:model_costs\.json, )?clients\.json, notes\.json, \.salt\n$/,
    )
    assert.equal((await recordedCalls(gateway, made)).length, made)
    assert.deepEqual(
      readdirSync(dir.path).filter((name) => name.startsWith('kept')),
      ['kept.db', 'kept.db.files'],
    )
    assert.equal(statSync(dir.file('kept.db')).mode & 0o777, 0o600)
    await gateway.stop()
  }
  // All is lost, and put back as docs/export.md says.
  const salt = readFileSync(`${directory}/.salt`)
  rmSync(directory, { recursive: true })
  mkdirSync(directory)
  cpSync(dir.file('kept.db'), `${directory}/telemetry.db`)
  cpSync(dir.file('kept.db.files'), directory, { recursive: true })
  const kept = readCalls(`${directory}/telemetry.db`).map(({ id }) => id)
  assert.deepEqual(kept.slice(0, 5), before)
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, directory })
  await call(gateway.baseUrl)
  const after = (await recordedCalls(gateway, kept.length + 1)).map(({ id }) => id)
  assert.deepEqual(after.slice(0, -1), kept)
  assert.ok(readFileSync(`${directory}/.salt`).equals(salt))
})

test('a backup that exists, or is no file, is left as it is; without a database there is none', async () => {
  await using dir = await makeTempDir()
  writeDatabase(dir.file('calls.db'), { calls: [chatCall(nowMs * 4096)] })
  const run = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync(program, [...first, 'db', 'backup', ...args], { cwd: dir.path })
    return [status, stderr.toString()] as const
  }
  assert.deepEqual(run('kept.db', '--db', 'calls.db'), [0, ''])
  const there = 'tokenweir: kept.db exists already; --force overwrites it\n'
  assert.deepEqual(run('kept.db', '--db', 'calls.db'), [1, there])
  assert.deepEqual(run('kept.db', '--db', 'calls.db', '--force'), [0, ''])
  assert.match(run('other.db', '--db', 'none.db')[1], /^tokenweir: none\.db: There is no database yet/)
  assert.deepEqual(run('--db', 'calls.db'), [2, 'tokenweir: name the file: file to write the copy to\n'])
  assert.deepEqual(
    readdirSync(dir.path).filter((name) => !name.startsWith('calls.db')),
    ['kept.db'],
  )
})

test('a backup in the place of an older one has no file that was removed since', async () => {
  await using dir = await makeTempDir()
  writeDatabase(dir.file('calls.db'), { calls: [chatCall(nowMs * 4096)] })
  const backUp = (): readonly string[] => {
    const args = [...first, 'db', 'backup', 'kept.db', '--db', 'calls.db', '--force']
    assert.equal(spawnSync(program, args, { cwd: dir.path, stdio: 'inherit' }).status, 0)
    return readdirSync(dir.file('kept.db.files'))
  }
  for (const name of ['clients.json', 'notes.json']) writeFileSync(dir.file(name), '{}')
  assert.deepEqual(backUp(), ['clients.json', 'notes.json'])
  writeFileSync(dir.file('kept.db.files/mine.txt'), '')
  for (const name of ['clients.json', 'notes.json']) {
    rmSync(dir.file(name))
    backUp()
  }
  assert.deepEqual(readdirSync(dir.file('kept.db.files')), ['mine.txt'])
})

test('a copy of a database that is written to is of the instant at which it began', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeDatabase(path, { calls: Array.from({ length: 3000 }, (_, index) => chatCall((nowMs + index) * 4096)) })
  // Another connection, as the gateway's is.
  using writer = openForWriting(path)
  let steps = 0
  const onProgress = (): void => {
    steps += 1
    writer.exec('DELETE FROM calls WHERE id IN (SELECT id FROM calls LIMIT 10)')
  }
  assert.equal(await backUpStore(path, dir.file('copy.db'), { onProgress, pagesAtOnce: 10 }), 3000)
  assert.ok(steps > 10)
  assert.equal(readCalls(dir.file('copy.db')).length, 3000)
  assert.equal(readCalls(path).length, 3000 - 10 * steps)
})
