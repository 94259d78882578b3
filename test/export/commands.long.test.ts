import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ownCommand } from '../../src/cli/gateway-command.ts'
import { nowMs, writeDatabase } from '../dashboard/query-database.ts'
import { variedCall } from '../store/told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { type CommandProcess, startCommandProcess } from '../support/command-process.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const many = 12_000
/** In the suite; more with `TOKENWEIR_KILLS=30`. */
const kills = Number(process.env['TOKENWEIR_KILLS'] ?? 10)

/** `data/llm_telemetry.db`, with as many calls. */
function writeCalls(dir: TempDir, count: number): void {
  const random = seededRandom(3)
  mkdirSync(dir.file('data'))
  const calls = Array.from({ length: count }, (_, index) => variedCall(nowMs + index, index, random))
  writeDatabase(dir.file('data/llm_telemetry.db'), { calls })
}

/** The command, run to its end. */
function run(dir: TempDir, ...args: readonly string[]) {
  const [program = '', ...first] = ownCommand
  const db = '--db=data/llm_telemetry.db'
  const all = [...first, ...args, db]
  const { status, stdout, stderr } = spawnSync(program, all, { cwd: dir.path, maxBuffer: 2 ** 28 })
  return { status, stdout, stderr: stderr.toString() }
}

function startExport(dir: TempDir, format: string, out: string): CommandProcess {
  const args = ['db', 'export', '--format', format, '--out', out, '--db', 'data/llm_telemetry.db']
  return startCommandProcess({ args, directory: dir.path })
}

/** Waits until a file has so many bytes, or the command is over. */
async function wroteBytes(command: CommandProcess, path: string, bytes: number): Promise<void> {
  let isOver = false
  void command.exited.then(() => (isOver = true))
  const size = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? -1
  await eventually(`${bytes} bytes are written`, () => isOver || size() >= bytes)
}

test('an export goes to a file or a pipe, and says what is in it', async () => {
  await using dir = await makeTempDir()
  writeCalls(dir, 100)
  const piped = run(dir, 'db', 'export', '--format', 'ndjson')
  assert.equal(piped.status, 0)
  const lines = piped.stdout.toString().trimEnd().split('\n')
  assert.equal(lines.length, 100)
  const range = 'from 2026-11-21T06:00:00\\.000Z to 2026-11-21T06:00:00\\.099Z'
  assert.match(piped.stderr, new RegExp(`^100 calls, [\\d.]+ kB written, ${range}\\.\\n$`))
  const filed = run(dir, 'db', 'export', '--format=ndjson', '--out=calls.ndjson')
  assert.match(filed.stderr, /^100 calls, [\d.]+ kB written to calls\.ndjson, from /)
  assert.ok(readFileSync(dir.file('calls.ndjson')).equals(piped.stdout))
  const again = run(dir, 'db', 'export', '--out', 'calls.ndjson')
  assert.equal(again.status, 1)
  assert.match(again.stderr, /^tokenweir: calls\.ndjson exists already; --force overwrites it\n$/)
  const some = run(dir, 'db', 'export', '--errors', '--out', '-', '--format', 'ndjson')
  const failed = lines.filter((line) => line.includes('"failed":true'))
  assert.ok(failed.length > 0)
  assert.deepEqual(some.stdout.toString().trimEnd().split('\n'), failed)
  const wrong = run(dir, 'db', 'export', '--from', '2026-11-22', '--to', '2026-11-21')
  assert.deepEqual([wrong.status, wrong.stderr], [2, 'tokenweir: to must be later than from.\n'])
  assert.match(
    run(dir, 'db', 'export', '--status', '7').stderr,
    /^tokenweir: --status must be a whole number/,
  )
})

test('a database of another version is not read, and the reader is told what helps', async () => {
  await using dir = await makeTempDir()
  writeCalls(dir, 1)
  const database = new DatabaseSync(dir.file('data/llm_telemetry.db'))
  database.exec('PRAGMA user_version = 3')
  database.close()
  for (const command of [
    ['db', 'export'],
    ['calls'],
    ['sessions'],
    ['db', 'reprice', '--from', '2026-01-01', '--dry-run'],
  ]) {
    const { status, stderr } = run(dir, ...command)
    assert.equal(status, 1, stderr)
    assert.match(
      stderr,
      /data\/llm_telemetry\.db: The database is of another version of tokenweir and is left as it is\. To start again, .*\.\n$/,
    )
  }
})

test('a full disk is told of', async () => {
  await using dir = await makeTempDir()
  writeCalls(dir, 10)
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', '"$@" > /dev/full', 'sh', ...ownCommand, 'db', 'export'],
    { cwd: dir.path },
  )
  assert.equal(status, 1)
  assert.match(stderr.toString(), /^tokenweir: .*ENOSPC/)
  assert.doesNotMatch(stderr.toString(), /written/)
})

test('what is killed at any instant leaves nothing that looks whole, and its database as it was', async () => {
  await using dir = await makeTempDir()
  writeCalls(dir, many)
  const all = (): string => run(dir, 'db', 'export', '--format', 'ndjson').stdout.toString()
  const before = all()
  const random = seededRandom(11)
  /** About as many bytes as there are before the end. */
  const mostBytes = { csv: 4e6, ndjson: 16e6, parquet: 1e5 }
  const leastKilled = 0.6 * kills
  let killed = 0
  for (let round = 0; round < kills || (killed < leastKilled && round < 10 * kills); round++) {
    const format = (['csv', 'ndjson', 'parquet'] as const)[round % 3] ?? 'csv'
    const out = `calls.${format}`
    await using command = startExport(dir, format, out)
    await wroteBytes(command, dir.file(`${out}.part`), random() * mostBytes[format])
    const { code } = await command.stop('SIGKILL')
    const names = readdirSync(dir.path).filter((name) => name.startsWith(out))
    // It has its name a moment before its command ends.
    const isWhole = code === 0 || names[0] === out
    assert.deepEqual(names, [isWhole ? out : `${out}.part`])
    if (isWhole && format === 'ndjson') assert.equal(readFileSync(dir.file(out), 'utf8'), before)
    if (isWhole) rmSync(dir.file(out))
    else killed += 1
  }
  assert.ok(killed >= leastKilled, `only ${killed} were not over before`)
  assert.equal(run(dir, 'db', 'check').status, 0)
  assert.equal(all(), before)
  const { status } = run(dir, 'db', 'export', '--out', 'calls.csv')
  assert.equal(status, 0)
  assert.equal(readFileSync(dir.file('calls.csv'), 'utf8').split('\r\n').length, many + 2)
  assert.deepEqual(
    readdirSync(dir.path).filter((name) => name.startsWith('calls.csv')),
    ['calls.csv'],
  )
})

test('Ctrl-C leaves nothing at all', async () => {
  await using dir = await makeTempDir()
  writeCalls(dir, many)
  for (let round = 0; ; round++) {
    assert.ok(round < 10, 'each was over before')
    await using command = startExport(dir, 'ndjson', 'calls.ndjson')
    await wroteBytes(command, dir.file('calls.ndjson.part'), 1000)
    const end = await command.stop('SIGINT')
    if (end.code === 0) {
      rmSync(dir.file('calls.ndjson'))
      continue
    }
    assert.deepEqual(end, { code: 1, signal: null })
    break
  }
  assert.deepEqual(readdirSync(dir.path), ['data'])
})
