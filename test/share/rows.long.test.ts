/** Rows of several files in one PostgreSQL: whatever is repeated, cut off or killed, each call is there once, on all sides. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sumAll } from '../../bench/generate/add-past.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { connectRows } from '../../src/share/rows/row-connection.ts'
import { ShareProcess } from '../../src/share/rows/share-process.ts'
import { getOrAdd } from '../../src/lib/get-or-add.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { repriceStore } from '../../src/store/jobs/reprice-store.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { lockJob } from '../../src/store/sqlite/store-files.ts'
import { noteEvent } from '../../src/store/write/note-event.ts'
import { HistoryWriter } from '../../src/store/write/history-writer.ts'
import { testStore } from '../store/any-store.ts'
import type { StoreContent } from '../store/store-content.ts'
import { priceBy } from '../store/priced-by.ts'
import { rowsOf } from '../store/rows-of.ts'
import { bareCall, chatCall, fullCall, idAt, sampleStartMs } from '../store/sample-call.ts'
import { dayMs, variedCall } from '../store/told-of-calls.ts'
import { eventually } from '../support/eventually.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { startPostgres } from '../support/postgres.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { contentOf, countOf, makeFile, share, type SharedFile, untilCount, untilSent } from './shared-file.ts'
import { assertSound } from '../store/assert-sound.ts'

const postgres = await startPostgres()
after(() => postgres[Symbol.asyncDispose]())

let databases = 0
const newDatabase = (): Promise<string> => postgres.database(`shared_${++databases}`)

/** What the database itself holds, in the words of its view. */
async function sharedSums(url: string): Promise<readonly unknown[]> {
  const connection = await connectRows(url)
  const [sums = []] =
    await connection.query(`SELECT count(*), sum(input_tokens)::bigint, sum(output_tokens)::bigint,
    sum(cost_nano_usd)::bigint, sum(duration_us)::bigint,
    (SELECT sum(tokens)::bigint FROM tokenweir.budget_minutes),
    (SELECT sum(estimated)::bigint FROM tokenweir.budget_minutes) FROM tokenweir.calls`)
  connection.close()
  return sums
}

/** What a file holds of all calls, and what it and the others count of their own. */
function localSums(file: SharedFile, others: readonly SharedFile[] = []): readonly unknown[] {
  const sql =
    'SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cost_nano_usd), sum(duration_us) FROM calls'
  const tokens = (table: string): number =>
    [file, ...others].reduce((sum, { database }) => {
      const [row] = rowsOf(database, `SELECT coalesce(sum(tokens), 0) AS tokens FROM ${table}`)
      return sum + Number(row?.['tokens'])
    }, 0)
  const calls = Object.values(rowsOf(file.database, sql)[0] ?? {})
  return [...calls, tokens('budget_minutes'), tokens('budget_estimates')]
}

/** Calls of all kinds, of an instance of its own. */
function someCalls(count: number, instance: string, fromMs: number, place: number): CallRecord[] {
  const random = seededRandom(place)
  return Array.from({ length: count }, (_, index) => {
    const id = (fromMs + index) * idsPerMs + place
    const kind = index % 40
    const call = kind === 7 ? fullCall(id) : kind === 9 ? bareCall(id) : variedCall(fromMs + index, 0, random)
    return { ...call, id, instance, session: kind === 3 ? `run ${index}` : call.session }
  })
}

/** One for each content: to make them takes longer than all that is asked of them. */
const pulledFiles = new Map<string, Promise<string>>()
const pulledDir = await makeTempDir()
after(() => pulledDir[Symbol.asyncDispose]())

async function pulled({ calls, minutes = [], events = [] }: StoreContent): Promise<string> {
  const url = await newDatabase()
  using a = makeFile(pulledDir.file(`${databases}-a.db`))
  using b = makeFile(pulledDir.file(`${databases}-b.db`))
  a.record(calls)
  new HistoryWriter(a.database, { instance: 'k3v9', version: '0' }).write(minutes, events)
  await using _a = share(a.path, url, { pulls: false })
  await using _b = share(b.path, url)
  await untilCount(b, calls.length)
  for (const table of ['gateway_minutes', 'gateway_events']) {
    const rows = ({ database }: SharedFile): number => rowsOf(database, `SELECT * FROM ${table}`).length
    await eventually(`the ${table} are there`, () => rows(a) === rows(b))
  }
  return b.path
}

testStore('a file filled by pulling', async (content) => {
  const path = await getOrAdd(pulledFiles, JSON.stringify(content), () => pulled(content))
  const reader = openCallReader(path)
  assert.ok(typeof reader !== 'string')
  return { reader, [Symbol.asyncDispose]: async () => reader.close() }
})

test('three machines that record at once come to hold the same calls, with the same sums', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  const files = ['a', 'b', 'c'].map((name) => makeFile(dir.file(`${name}.db`)))
  {
    await using _a = share(files[0]!.path, url)
    await using _b = share(files[1]!.path, url)
    await using _c = share(files[2]!.path, url)
    const calls = files.map((_, at) => someCalls(1500, `of-${at}`, sampleStartMs, at * 64))
    for (let from = 0; from < 1500; from += 100) {
      for (const [at, file] of files.entries()) file.record(calls[at]!.slice(from, from + 100))
      await untilCount(files[0]!, from)
    }
    for (const file of files) await untilCount(file, 4500)
    for (const file of files) await untilSent(file)
  }
  for (const file of files) {
    assertSameRows(contentOf(file.database), contentOf(files[0]!.database), file.path)
    sumAll(file.database, sampleStartMs + 2 * dayMs)
    assertSound(file.path)
  }
  assert.deepEqual(await sharedSums(url), localSums(files[0]!, files.slice(1)))
  for (const file of files) file[Symbol.dispose]()
})

test('a sender that is killed at any instant, and a database that is, lose nothing and repeat nothing', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  const random = seededRandom(19)
  const rounds = 30
  const marks = new Set<number>()
  let [midway, recorded] = [0, 0]
  const record = (count: number): void => {
    a.record(someCalls(count, 'killed', sampleStartMs + recorded, 5))
    recorded += count
  }
  const isEnough = (): boolean => midway > 3 && marks.size > 3
  const env = { ...process.env, TOKENWEIR_SHARE: url } as Record<string, string>
  const task = { path: a.path, pulls: false, days: 0 }
  const file = fileURLToPath(new URL('../../src/share/rows/share-worker.ts', import.meta.url))
  await using _b = share(b.path, url)
  record(3000)
  for (let round = 0; round < rounds || (!isEnough() && round < 5 * rounds); round++) {
    record(900)
    const before = a.state.cursors()
    const worker = fork(file, [JSON.stringify(task)], { env, execArgv: [], stdio: 'inherit' })
    // Each third at any instant from its start, the others around the sending of a batch.
    if (round % 3 === 0) await once(worker, 'message')
    else await eventually('it sends', () => a.state.cursors()?.sending_seq !== before?.sending_seq)
    if (round % 12 === 5) await postgres.restart()
    await delay(random() * (round % 3 === 0 ? 300 : 40))
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    const { passed_seq = 0, confirmed_seq = 0, sending_seq = 0 } = a.state.cursors() ?? {}
    if (confirmed_seq !== sending_seq) midway++
    marks.add(passed_seq)
  }
  assert.ok(isEnough(), `only ${midway} kills fell between a batch and its answer`)
  const rest = new ShareProcess(task, env, systemClock, () => {})
  await untilSent(a)
  await untilCount(b, recorded)
  await rest.close()
  assert.deepEqual(await sharedSums(url), localSums(a))
  assertSameRows(contentOf(b.database), contentOf(a.database))
})

test('answers that are lost after the commit change nothing', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  a.record(someCalls(6000, 'lost', sampleStartMs, 5))
  let [statements, lost] = [0, 0]
  const connect: typeof connectRows = async () => {
    const connection = await connectRows(url)
    return {
      ...connection,
      query: async (sql, values) => {
        const rows = await connection.query(sql, values)
        if (!sql.includes('INSERT INTO tokenweir.calls') || ++statements % 2 === 0) return rows
        lost++
        throw new Error('the connection was cut')
      },
    }
  }
  {
    await using _a = share(a.path, url, { connect: () => connect(url), pulls: false })
    await using _b = share(b.path, url)
    await untilSent(a)
    await untilCount(b, 6000)
  }
  assert.ok(lost >= 6)
  assert.deepEqual(await sharedSums(url), localSums(a))
  assertSameRows(contentOf(b.database), contentOf(a.database))
})

test('what became of a call replaces the row of its interruption, everywhere', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  const call = chatCall()
  const cut = {
    ...bareCall(call.id),
    callType: 'chat',
    outcome: 'interrupted',
    requestBytes: call.requestBytes,
  } as const
  const unknownEnd = { ...cut, durationMs: null } as unknown as CallRecord
  a.record([unknownEnd])
  await using _a = share(a.path, url)
  await using _b = share(b.path, url)
  await untilCount(b, 1)
  assert.equal(countOf(b.database, 'outcome_id = 6'), 1)
  a.record([call])
  await eventually('the call is known', () => countOf(b.database, 'outcome_id = 0') === 1)
  assertSameRows(contentOf(b.database), contentOf(a.database))
  assert.deepEqual(await sharedSums(url), localSums(a))
})

test('costs that re-pricing changes are changed on all machines, in rows and sums, also while a job is at work there', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  const fromMs = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  a.record(someCalls(1200, 'priced', fromMs, 5))
  await using _a = share(a.path, url)
  await using _b = share(b.path, url)
  await untilCount(b, 1200)
  for (const { database } of [a, b]) sumAll(database, Date.now())
  const reprice = async (path: string, factor: number): Promise<void> => {
    const request = {
      fromMs,
      toMs: fromMs + dayMs,
      model: null,
      onlyUnpriced: false,
      dryRun: false,
      timeZone: 'UTC',
    }
    const context = { pricer: priceBy(factor), clock: systemClock, onProgress: () => {} }
    assert.equal(typeof (await repriceStore(path, request, context)), 'object')
  }
  const same = (): boolean => JSON.stringify(contentOf(a.database)) === JSON.stringify(contentOf(b.database))
  const before = JSON.stringify(contentOf(b.database))
  await reprice(a.path, 3)
  await eventually('the other machine has the new costs', same)
  assert.notEqual(JSON.stringify(contentOf(b.database)), before)
  {
    using _job = lockJob(a.path)
    await reprice(b.path, 4)
    await eventually('it has them beside the job', same)
  }
  assert.deepEqual(await sharedSums(url), localSums(a))
  for (const { path } of [a, b]) assertSound(path)
  assert.equal(
    rowsOf(b.database, "SELECT 1 FROM calls_readable WHERE price_source = 'by 4'").length > 500,
    true,
  )
})

test('a schema of another version is refused, in words that say how to start anew', async () => {
  const url = await newDatabase()
  const connection = await connectRows(url)
  await connection.query("COMMENT ON TABLE tokenweir.calls IS 'another'")
  connection.close()
  await assert.rejects(connectRows(url), /of another version of tokenweir.*DROP SCHEMA tokenweir CASCADE/)
})

test('the view for people has the words and units of the file', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  a.record([fullCall(idAt(1) + 5)])
  await using _a = share(a.path, url, { pulls: false })
  await untilSent(a)
  const connection = await connectRows(url)
  const shown = await connection.query('SELECT tool_calls, trace_id FROM tokenweir.calls_readable')
  connection.close()
  const recorded = rowsOf(a.database, 'SELECT tool_calls, trace_id FROM calls_readable')
  assert.deepEqual(shown, recorded.map(Object.values))
})

test('of two files whose calls have the same ids all calls are kept', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  a.record(someCalls(300, 'one', sampleStartMs, 5))
  b.record(someCalls(300, 'two', sampleStartMs, 5))
  await using _a = share(a.path, url)
  await untilSent(a)
  await using _b = share(b.path, url)
  await untilCount(a, 600)
  await untilCount(b, 600)
  assertSameRows(contentOf(b.database), contentOf(a.database))
  assert.deepEqual(await sharedSums(url), localSums(b, [a]))
})

test('calls that were folded away do not come again, and late calls of that time come once', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  const fromMs = Math.floor(Date.now() / dayMs) * dayMs - 9 * dayMs
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  // An idle database would keep its last two days.
  a.record([...someCalls(500, 'old', fromMs, 5), chatCall(Date.now() * idsPerMs)])
  const reader = (): Promise<number> => {
    const opened = openCallReader(b.path)
    assert.ok(typeof opened !== 'string')
    const edgesMs = [fromMs, fromMs + dayMs]
    return opened.aggregate({ filter: {}, edgesMs, dimension: null }).then(({ summary }) => {
      opened.close()
      return summary.calls
    })
  }
  {
    await using _a = share(a.path, url)
    await using _b = share(b.path, url)
    await untilCount(b, 501)
  }
  const folded = await compressStore(
    b.path,
    { keepDays: 2, dryRun: false },
    { clock: systemClock, onProgress: () => {} },
  )
  assert.ok(typeof folded === 'object' && folded.folded_calls === 500, JSON.stringify(folded))
  a.record(someCalls(40, 'late', fromMs, 9))
  {
    await using _a = share(a.path, url)
    // It reads again what came last, and then what is new.
    await using _b = share(b.path, url)
    await untilCount(b, 41)
    await untilSent(b)
  }
  assert.equal(countOf(b.database), 41)
  assert.equal(await reader(), 540)
})

test('what a command notes of this machine is noted of its own gateway, also after an event of another', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  const start = (file: SharedFile, instance: string, atMs: number): void =>
    new HistoryWriter(file.database, { instance, version: '0' }).write(
      [],
      [{ atMs, kind: 'start', detail: null }],
    )
  start(a, 'here', sampleStartMs)
  start(b, 'elsewhere', sampleStartMs + 1000)
  await using _a = share(a.path, url)
  await using _b = share(b.path, url)
  const events = (file: SharedFile): readonly unknown[] =>
    rowsOf(
      file.database,
      'SELECT text, kind FROM gateway_events AS e JOIN instances AS i ON i.id = e.instance_id ORDER BY at_ms',
    )
  await eventually('the other start is known', () => events(a).length === 2)
  assert.equal(noteEvent(a.path, { atMs: sampleStartMs + 2000, kind: 'price_sync', detail: '{}' }), true)
  assert.deepEqual(events(a).at(-1), { text: 'here', kind: 'price_sync' })
})

test('calls that were re-priced before a new machine came are in its sums, though it has folded that time', async () => {
  await using dir = await makeTempDir()
  const url = await newDatabase()
  const fromMs = Math.floor(Date.now() / dayMs) * dayMs - 9 * dayMs
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  a.record(someCalls(500, 'priced', fromMs, 5))
  // An idle database would keep its last two days.
  b.record([...someCalls(100, 'own', fromMs, 9), chatCall(Date.now() * idsPerMs)])
  const foldsOld = async (calls: number): Promise<void> => {
    const bounds = { keepDays: 2, dryRun: false }
    const folded = await compressStore(b.path, bounds, { clock: systemClock, onProgress: () => {} })
    assert.ok(typeof folded === 'object' && folded.folded_calls === calls, JSON.stringify(folded))
  }
  const reprice = async (factor: number): Promise<void> => {
    const about = { fromMs, toMs: fromMs + dayMs, model: null, onlyUnpriced: false }
    const context = { pricer: priceBy(factor), clock: systemClock, onProgress: () => {} }
    const request = { ...about, dryRun: false, timeZone: 'UTC' }
    assert.equal(typeof (await repriceStore(a.path, request, context)), 'object')
  }
  const callsOfB = async (): Promise<number> => {
    const opened = openCallReader(b.path)
    assert.ok(typeof opened !== 'string')
    const { summary } = await opened.aggregate({
      filter: {},
      edgesMs: [fromMs, fromMs + dayMs],
      dimension: null,
    })
    opened.close()
    return summary.calls
  }
  await foldsOld(100)
  await using _a = share(a.path, url)
  await untilSent(a)
  await reprice(3)
  await eventually(
    'the new costs are sent',
    () => rowsOf(a.database, 'SELECT 1 FROM share_changed').length === 0,
  )
  {
    await using _b = share(b.path, url)
    await untilCount(b, 501)
  }
  assert.equal(await callsOfB(), 600)
  // What was here and is folded does not come again, changed or not.
  await foldsOld(500)
  await reprice(4)
  await eventually(
    'the new costs are sent',
    () => rowsOf(a.database, 'SELECT 1 FROM share_changed').length === 0,
  )
  a.record(someCalls(3, 'late', fromMs, 17))
  {
    await using _b = share(b.path, url)
    await untilCount(b, 4)
  }
  assert.deepEqual([countOf(b.database), await callsOfB()], [4, 603])
})

test('a shared database that is new, or older than it was, and a file that is, come to hold all calls', async () => {
  await using dir = await makeTempDir()
  const [first, second] = [await newDatabase(), await newDatabase()]
  using a = makeFile(dir.file('a.db'))
  using b = makeFile(dir.file('b.db'))
  a.record(someCalls(2500, 'moved', sampleStartMs, 5))
  {
    await using _a = share(a.path, first)
    await untilSent(a)
  }
  a.database.exec(`VACUUM INTO '${dir.file('older.db')}'`)
  a.record(someCalls(700, 'moved', sampleStartMs + dayMs, 5))
  {
    await using _a = share(a.path, first)
    await untilSent(a)
  }
  // A file that was restored: its last calls come back.
  {
    using older = makeFile(dir.file('older.db'))
    older.record(someCalls(300, 'after', sampleStartMs + 2 * dayMs, 5))
    await using _older = share(older.path, first)
    await untilCount(older, 3500)
    await untilSent(older)
    assert.equal((await sharedSums(first))[0], 3500)
  }
  // A database that lost what was sent last.
  const connection = await connectRows(first)
  await connection.query('DELETE FROM tokenweir.calls WHERE seq > 1000')
  await connection.query('UPDATE tokenweir.row_state SET last_seq = 1000')
  await connection.query('UPDATE tokenweir.stores SET sent = least(sent, 1000)')
  connection.close()
  {
    await using _a = share(a.path, first)
    await eventually('what was lost is sent again', () => a.state.cursors()?.confirmed_seq === 3200)
  }
  assert.ok(Number((await sharedSums(first))[0]) >= 3200)
  // Another database.
  {
    await using _a = share(a.path, second)
    await using _b = share(b.path, second)
    await untilCount(b, countOf(a.database))
  }
  assertSameRows(contentOf(b.database), contentOf(a.database))
})
