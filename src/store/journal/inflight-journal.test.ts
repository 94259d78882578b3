import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { callStart, chatCall } from '../../../test/store/sample-call.ts'
import { makeTempDir, type TempDir } from '../../../test/support/temp-dir.ts'
import { InflightJournal, type InflightJournalOptions } from './inflight-journal.ts'
import { endLine, parseEnd, parseHeader, parseStart } from './journal-line.ts'

class Times {
  nowMs = 0
  now = (): number => this.nowMs
  wallTime = (): number => 1_795_233_600_000 + this.nowMs
}

function journalIn(dir: TempDir, options: Partial<InflightJournalOptions> = {}): InflightJournal {
  return new InflightJournal({
    folder: dir.path,
    instance: 'k3v9',
    number: null,
    clock: new Times(),
    waiting: () => [],
    ...options,
  })
}

function idsIn(path: string): number[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => parseStart(line)?.id ?? [])
}

test('a call is on disk when begin resolves, for the owner alone', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir)
  const call = callStart(7)
  await journal.begin(call)
  const path = dir.file('inflight-k3v9.log')
  assert.deepEqual(idsIn(path), [7])
  assert.equal(parseHeader(readFileSync(path, 'utf8').split('\n')[0]!)?.pid, process.pid)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  journal.over(call)
  journal.close()
  assert.deepEqual(readdirSync(dir.path), [])
})

test('calls that begin in one turn are on disk together', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir)
  const begun = [1, 2, 3].map((id) => journal.begin(callStart(id)))
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [])
  await Promise.all(begun)
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [1, 2, 3])
})

test('calls that have ended and wait stand as they ended, also after a rewrite, until they wait no more', async () => {
  await using dir = await makeTempDir()
  let waiting = [chatCall(7), chatCall(8)].map(endLine)
  const journal = journalIn(dir, { rewriteBytes: 9000, waiting: () => waiting })
  const path = dir.file('inflight-k3v9.log')
  const ends = (): number[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => parseEnd(line)?.id ?? [])
  const call = callStart(7)
  await journal.begin(call)
  journal.over(call)
  assert.ok(journal.noteEnded(waiting))
  assert.deepEqual([idsIn(path), ends()], [[7], [7, 8, 7, 8]])
  journal.noteEnded(Array.from({ length: 20 }, (_, index) => endLine(chatCall(10 + index))))
  journal.tidy()
  assert.deepEqual([idsIn(path), ends()], [[], [7, 8]])
  waiting = []
  journal.close()
  assert.deepEqual(readdirSync(dir.path), [])
})

test('what began is written when it is closed in the same turn', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir)
  const begun = journal.begin(callStart(7))
  journal.close()
  await begun
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [7])
})

test('a journal that still holds a call stays', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir)
  await journal.begin(callStart(7))
  journal.close()
  await journal.begin(callStart(8))
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [7])
})

test('it is rewritten with the calls that matter before it grows', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir, { rewriteBytes: 10_000 })
  const path = dir.file('inflight-k3v9.log')
  await journal.begin(callStart(1))
  for (let id = 2; id < 2000; id++) {
    const call = callStart(id)
    await journal.begin(call)
    journal.over(call)
    journal.tidy()
    assert.ok(statSync(path).size < 10_500)
  }
  await journal.begin(callStart(2000))
  assert.equal(idsIn(path)[0], 1)
  assert.equal(idsIn(path).at(-1), 2000)
  assert.deepEqual(readdirSync(dir.path), ['inflight-k3v9.log'])
})

test('where all calls matter it is not rewritten again and again', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir, { rewriteBytes: 1000 })
  const path = dir.file('inflight-k3v9.log')
  const files = new Set<number>()
  for (let id = 0; id < 1000; id++) {
    await journal.begin(callStart(id))
    journal.tidy()
    files.add(statSync(path).ino)
  }
  assert.equal(idsIn(path).length, 1000)
  assert.ok(files.size <= 2)
})

test('a file that was deleted is made again with all that it held', async () => {
  await using dir = await makeTempDir()
  const times = new Times()
  const journal = journalIn(dir, { clock: times })
  await journal.begin(callStart(1))
  rmSync(dir.path, { recursive: true })
  await journal.begin(callStart(2))
  times.nowMs += 1000
  journal.tidy()
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [1, 2])
  assert.equal(journal.warning, null)
})

test('a folder that cannot be written is a warning, and heals', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('data'), '')
  const times = new Times()
  const journal = journalIn(dir, { folder: dir.file('data'), clock: times })
  await journal.begin(callStart(1))
  assert.equal(journal.warning?.code, 'journal_unavailable')
  rmSync(dir.file('data'))
  times.nowMs += 1000
  await journal.begin(callStart(2))
  assert.equal(journal.warning, null)
  assert.deepEqual(idsIn(join(dir.file('data'), 'inflight-k3v9.log')), [1, 2])
})

test('what it holds is bounded', async () => {
  await using dir = await makeTempDir()
  const journal = journalIn(dir, { callLimit: 2 })
  const calls = [1, 2, 3].map((id) => callStart(id))
  for (const call of calls) await journal.begin(call)
  assert.equal(journal.warning?.code, 'journal_full')
  assert.deepEqual(idsIn(dir.file('inflight-k3v9.log')), [1, 2])
  journal.over(calls[0]!)
  assert.equal(journal.warning, null)
})

test('the journal of an earlier life of this instance is kept under another name', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('inflight-k3v9.log'), 'former')
  journalIn(dir)
  assert.equal(readFileSync(dir.file('inflight-k3v9-1795233600000.log'), 'utf8'), 'former')
})

test('an instance is no path', async () => {
  await using dir = await makeTempDir()
  journalIn(dir, { instance: '../a b' })
  assert.ok(existsSync(dir.file('inflight-___a_b.log')))
})

test('a write of which a part is missing is told, also if as many bytes were written as there are characters', async () => {
  await using dir = await makeTempDir()
  const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)
  const program = `import { statSync } from 'node:fs'
    import { InflightJournal } from ${url('inflight-journal.ts')}
    import { startLine } from ${url('journal-line.ts')}
    import { callStart } from ${url('../../../test/store/sample-call.ts')}
    const [, folder] = process.argv
    const clock = { now: () => 0, wallTime: () => 0 }
    const journal = new InflightJournal({ folder, instance: 'k3v9', number: null, clock, waiting: () => [] })
    const room = 2048 - statSync(folder + '/inflight-k3v9.log').size
    const start = { ...callStart(7), model: '' }
    await journal.begin({ ...start, model: 'é'.repeat(room - startLine(start).length) })
    console.log(journal.warning?.code ?? 'all is well', statSync(folder + '/inflight-k3v9.log').size)`
  const limited = `ulimit -f 2 && exec "$0" --input-type=module -e "$1" "$2"`
  const { stdout } = spawnSync('bash', ['-c', limited, process.execPath, program, dir.path])
  assert.equal(stdout.toString(), 'journal_unavailable 2048\n')
})

test('while no row can be written the file holds no more than what waits', async () => {
  await using dir = await makeTempDir()
  const waiting = [chatCall(1), chatCall(2)].map(endLine)
  const journal = journalIn(dir, { rewriteBytes: 3000, waiting: () => waiting })
  for (let id = 10; id < 200; id++) {
    const call = callStart(id)
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    await journal.begin(call)
    journal.over(call)
    assert.ok(journal.noteEnded([endLine(chatCall(id))]))
  }
  assert.ok(statSync(dir.file('inflight-k3v9.log')).size < 20_000)
})
