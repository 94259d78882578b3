import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { tableFromIPC } from 'apache-arrow'
import { readParquet } from 'parquet-wasm/node'
import type { ExportFormat } from '../../src/api/database-job.ts'
import type { CallFilter } from '../../src/call/call-filter.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallReader } from '../../src/call/call-reader.ts'
import { systemClock } from '../../src/call/clock.ts'
import { callEncoder } from '../../src/export/call-encoder.ts'
import { type Exported, exportCalls } from '../../src/export/export-calls.ts'
import { answerQuestion } from '../../src/query/answer-question.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { nowMs, writeDatabase } from '../dashboard/query-database.ts'
import { dayMs, variedCall } from '../store/told-of-calls.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** More than one page, and more than one row group of Parquet. */
const many = 10_700
const oddTexts = ['=1+1', '"a", b', 'two\r\nlines', '\u{1f30a} weir', '-5', "'", '\t', 'null']

const random = seededRandom(7)
const calls = Array.from({ length: many }, (_, index) => ({
  ...variedCall(nowMs - (many - index) * 1000, index, random),
  ...(index % 100 < oddTexts.length && {
    errorMessage: oddTexts[index % 100] ?? null,
    client: oddTexts[(index + 3) % oddTexts.length] ?? null,
  }),
}))

function opened(path: string) {
  const reader = openCallReader(path)
  if (typeof reader === 'string') throw new Error(reader)
  return reader
}

/** The file, and what is said of it. */
async function exported(
  reader: CallReader,
  format: ExportFormat,
  filter: CallFilter = {},
): Promise<Exported & { readonly file: Buffer }> {
  const pieces: Buffer[] = []
  const write = async (bytes: Uint8Array | string): Promise<void> => void pieces.push(Buffer.from(bytes))
  const done = await exportCalls(reader, filter, await callEncoder(format), write)
  return { ...done, file: Buffer.concat(pieces) }
}

/** As an implementation that has nothing to do with ours reads it. */
function parquetRows(file: Buffer): readonly Readonly<Record<string, unknown>>[] {
  const table = tableFromIPC(readParquet(file).intoIPCStream())
  return table.toArray().map((row) => {
    const fields = Object.entries((row as { toJSON(): Record<string, unknown> }).toJSON())
    const plain = fields.map(([name, value]) => {
      if (name === 'started_at') return [name, new Date(Number(value)).toISOString()]
      return [name, typeof value === 'bigint' ? Number(value) : value]
    })
    return Object.fromEntries(plain) as Record<string, unknown>
  })
}

function assertSame(rows: readonly unknown[], expected: readonly unknown[]): void {
  assert.equal(rows.length, expected.length)
  // A comparison of all at once would take gigabytes to tell a difference.
  for (const [at, row] of rows.entries()) assert.deepEqual(row, expected[at])
}

test('each form has every call with every field, the newest first, as questions are answered', async () => {
  await using dir = await makeTempDir()
  writeDatabase(dir.file('calls.db'), { calls })
  const reader = opened(dir.file('calls.db'))
  try {
    const listed = await reader.list({}, { limit: many + 1 })
    assert.equal(listed.length, many)
    const { file, ...done } = await exported(reader, 'ndjson')
    assert.deepEqual(done, {
      calls: many,
      first: listed.at(-1)?.started_at,
      last: listed[0]?.started_at,
      folded: null,
    })
    const lines = file.toString().trimEnd().split('\n')
    assertSame(
      lines.map((line): unknown => JSON.parse(line)),
      listed,
    )
    assertSame(parquetRows((await exported(reader, 'parquet')).file), listed)
    const sources = { store: reader, note: null, prices: null as never }
    const question = {
      kind: 'list',
      filter: {},
      limit: many,
      beforeId: null,
      sort: 'started_at',
      rising: false,
      format: 'csv',
    } as const
    const answer = await answerQuestion(sources, question, nowMs)
    const csv = (await exported(reader, 'csv')).file.toString()
    assert.ok(csv === answer.text)
    assert.match(csv, /,'=1\+1,/)
  } finally {
    reader.close()
  }
})

test('an export has what its filter means, and may have nothing', async () => {
  await using dir = await makeTempDir()
  writeDatabase(dir.file('calls.db'), { calls: calls.slice(0, 600) })
  const reader = opened(dir.file('calls.db'))
  const ids = async (filter: CallFilter): Promise<readonly string[]> => {
    const text = (await exported(reader, 'ndjson', filter)).file.toString()
    return text.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as CallJson).id]))
  }
  try {
    const filters: readonly CallFilter[] = [
      { failedOnly: true },
      { model: [calls.find(({ model }) => model !== null)?.model ?? ''] },
      { client: ['=1+1'] },
      { fromMs: nowMs - many * 1000 + 100_000, toMs: nowMs - many * 1000 + 200_000 },
      { status: [200], min_ms: 500 },
    ]
    for (const filter of filters) {
      const listed = await reader.list(filter, { limit: 1000 })
      assert.ok(listed.length > 0, JSON.stringify(filter))
      assert.deepEqual(
        await ids(filter),
        listed.map(({ id }) => id),
      )
    }
    assert.deepEqual(await ids({ model: ['none of that name'] }), [])
    assert.match(
      (await exported(reader, 'parquet', { model: ['none'] })).file.toString('latin1'),
      /^PAR1.+PAR1$/s,
    )
    const csv = (await exported(reader, 'csv', { model: ['none'] })).file.toString()
    assert.match(csv, /^id,started_at,call_type,[^\n]+\r\n$/)
  } finally {
    reader.close()
  }
})

test('what was folded is told of, with the number of calls where sums tell it', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const old = Array.from({ length: 300 }, (_, index) => variedCall(nowMs - 3 * dayMs + index, index, random))
  const recent = Array.from({ length: 50 }, (_, index) => variedCall(nowMs + index, 300 + index, random))
  writeDatabase(path, { calls: [...old, ...recent] })
  const clock = { ...systemClock, wallTime: () => nowMs + dayMs, delay: () => setImmediate() }
  await compressStore(path, { keepDays: 2, dryRun: false }, { clock, onProgress: () => undefined })
  const reader = opened(path)
  try {
    const untilMs = (await reader.foldedUntilMs()) ?? 0
    assert.ok(untilMs > nowMs - 3 * dayMs + 300)
    const { calls, folded } = await exported(reader, 'csv')
    assert.deepEqual([calls, folded], [50, { untilMs, calls: 300 }])
    assert.deepEqual((await exported(reader, 'csv', { min_ms: 1 })).folded, { untilMs, calls: null })
    assert.equal((await exported(reader, 'csv', { fromMs: nowMs })).folded, null)
    assert.equal((await exported(reader, 'csv', { model: ['none'] })).folded, null)
  } finally {
    reader.close()
  }
})
