/** What the dashboard says of times whose calls were folded into sums: the real command, asked before and after. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Overview } from '../../src/api/overview.ts'
import type { GroupFigures } from '../../src/call/figures.ts'
import { startedAtMs } from '../../src/call/call-id.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startOfToday } from '../support/start-of-today.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { parseRecord } from '../support/json-record.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { mixedCalls } from './mixed-calls.ts'
import { writeDatabase } from './query-database.ts'
import { assertAnswer, assertFigures, selected } from './query-reference.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const quarterMs = hourMs / 4
const days = 12
const keepDays = 4

/** Calls are folded by the day. */
const todayMs = await startOfToday()
const firstMs = todayMs - days * dayMs
const foldedUntilMs = todayMs - keepDays * dayMs
const iso = (ms: number): string => new Date(ms).toISOString()

type Group = GroupFigures & {
  readonly key?: string | number | null
  readonly keys?: Readonly<Record<string, string | number | null>>
}
interface Answer {
  readonly groups: readonly Group[]
  readonly summary: GroupFigures
  readonly resolution?: string
}

const calls = mixedCalls({ count: 900, seed: 11, fromMs: firstMs, days, models: ['small', 'big'] })
/** Six days across the instant up to which calls are folded; both ends on an hour. */
const range = `from=${iso(foldedUntilMs - 3 * dayMs + hourMs)}&to=${iso(foldedUntilMs + dayMs)}`
const questions: readonly string[] = [
  'group_by=hour',
  'group_by=day',
  'group_by=day&tz=Asia/Kathmandu',
  'group_by=hour&tz=Asia/Kolkata',
  'group_by=hour&tz=Europe/Berlin&model=small',
  'group_by=model&client=curl&errors_only=1',
  'group_by=day&status=429&client=curl',
  'group_by=endpoint&model=small',
  'group_by=call_type',
  'group_by=model',
  'group_by=model&call_type=chat&outcome=ok',
  'group_by=outcome',
  'group_by=day,model',
  'group_by=hour,call_type&errors_only=1',
  'group_by=day,outcome&call_type=embedding',
  'group_by=status',
  'group_by=client',
  'group_by=endpoint&outcome=ok',
  'group_by=day,client',
  'group_by=hour&status=429&status=500',
  'group_by=failure_code',
].map((question) => `${range}&${question}`)

let dashboard: DashboardProcess
let cleanup: AsyncDisposableStack
const answersBefore = new Map<string, Answer>()

async function answerTo(question: string): Promise<Answer> {
  const response = await dashboard.ask('GET', `/api/query?${question}`)
  assert.equal(response.status, 200, question)
  return (await response.json()) as Answer
}

async function refusalOf(path: string): Promise<{ readonly status: number; readonly message: string }> {
  const response = await dashboard.ask('GET', path)
  const { code, message, param, data } = parseRecord(await response.text())['error'] as Record<
    string,
    unknown
  >
  // Programs read the instant in the data, and people in the message.
  const from = iso(foldedUntilMs)
  assert.deepEqual([code, param, data], ['folded_range', 'from', { from }], path)
  assert.ok(String(message).includes(from), path)
  return { status: response.status, message: String(message) }
}

before(async () => {
  await using owned = new AsyncDisposableStack()
  const dir = owned.use(await makeTempDir())
  const db = dir.file('calls.db')
  writeDatabase(db, { calls })
  dashboard = owned.use(await startDashboardProcess({ args: ['--db', db] }))
  for (const question of questions) answersBefore.set(question, await answerTo(question))
  const done = await dashboard.ask('POST', '/api/db/compress', { keep_days: keepDays })
  const { folded_calls: folded } = parseRecord(await done.text())
  assert.equal(folded, calls.filter(({ id }) => startedAtMs(id) < foldedUntilMs).length)
  cleanup = owned.move()
})
after(() => cleanup[Symbol.asyncDispose]())

/** The mean of a speed is kept as a rounded sum of inverses. */
const withoutSpeed = (group: Group): object => ({ ...group, output_tokens_per_s: null })

test('figures in hours and longer are what they were, whatever they are grouped by', async () => {
  for (const question of questions) {
    const answer = await answerTo(question)
    const known = answersBefore.get(question)!
    assert.deepEqual([known.resolution, answer.resolution], [undefined, '1h'], question)
    assertAnswer(answer, calls, question)
    assert.deepEqual(answer.groups.map(withoutSpeed), known.groups.map(withoutSpeed), question)
  }
})

test('what begins after the folded time is told as ever, and says nothing of hours', async () => {
  const recent = `from=${iso(foldedUntilMs)}`
  const byMinute = await answerTo(`${recent}&to=${iso(foldedUntilMs + dayMs)}&group_by=minute`)
  assert.equal(byMinute.resolution, undefined)
  const query = new URLSearchParams(`${recent}&model=small&client=curl&min_ms=20`)
  const answer = await answerTo(String(query))
  assert.equal(answer.resolution, undefined)
  assertFigures(answer.summary, selected(calls, query), 'after the folded time')
})

test('what the sums do not tell is refused, with the instant from which on it can be asked', async () => {
  const from = iso(foldedUntilMs - 6 * hourMs)
  for (const question of [
    `from=${from}&to=${iso(foldedUntilMs)}&group_by=minute`,
    `from=${from}&min_ms=100`,
    `from=${from}&q=upstream_http`,
    // Within one quarter hour.
    `from=${iso(foldedUntilMs - quarterMs + 60_000)}&to=${iso(foldedUntilMs - 60_000)}`,
  ]) {
    const { status, message } = await refusalOf(`/api/query?${question}`)
    assert.equal(status, 409, question)
    assert.ok(message.includes(iso(foldedUntilMs)), message)
  }
})

test('an end within the quarter hour in which the last hour or day begins is no reason to refuse', async () => {
  const fromMs = foldedUntilMs - 10 * hourMs
  const toMs = foldedUntilMs - 2 * hourMs
  const query = new URLSearchParams(`from=${iso(fromMs)}&to=${iso(toMs)}&group_by=hour`)
  const whole = await answerTo(String(query))
  for (const cutMs of [1, 7 * 60_000, quarterMs - 1]) {
    const cut = await answerTo(`from=${iso(fromMs)}&to=${iso(toMs + cutMs)}&group_by=hour`)
    const first = cut.groups.slice(0, whole.groups.length)
    assert.deepEqual(first, whole.groups)
    // Its quarter hour counts in the range that begins with it.
    assert.deepEqual(fieldsOf(cut.groups.slice(whole.groups.length), 'calls'), [0])
    assert.deepEqual(cut.summary, whole.summary)
  }
})

test('the overview of folded time', async () => {
  const ask = async (query: string): Promise<Overview> => {
    const response = await dashboard.ask('GET', `/api/overview?${query}`)
    assert.equal(response.status, 200, query)
    return (await response.json()) as Overview
  }
  for (const query of [
    range,
    `from=${iso(firstMs)}&to=${iso(todayMs)}`,
    `from=${iso(foldedUntilMs - hourMs)}&to=${iso(foldedUntilMs)}`,
    `from=${iso(firstMs)}&to=${iso(foldedUntilMs - 1)}&model=small`,
  ]) {
    const told = await ask(query)
    assert.equal(told.resolution, '1h')
    assert.ok(told.failures !== null)
    assert.ok(told.models !== null)
    assert.ok(told.bucket_s >= 3600)
    const wholeTo = Math.floor(Date.parse(told.to) / hourMs) * hourMs
    const members = selected(calls, new URLSearchParams(query)).filter(({ id }) => startedAtMs(id) < wholeTo)
    assert.equal(told.totals.calls, members.length)
    assert.equal(
      told.totals.input_tokens,
      members.reduce((sum, call) => sum + (call.inputTokens ?? 0), 0),
    )
    const timed = members.filter(({ callType, outcome }) => callType === 'chat' && outcome === 'ok')
    assert.equal(told.totals.duration_ms.n, timed.length)
    assert.deepEqual(
      told.heat.counts.map((bins) => bins.reduce((sum, count) => sum + count, 0)),
      told.buckets.duration_n,
    )
    assert.equal(
      told.buckets.duration_n.reduce((sum, count) => sum + count, 0),
      timed.length,
    )
  }
  const hour = await ask(`from=${iso(foldedUntilMs - hourMs)}&to=${iso(foldedUntilMs)}`)
  assert.equal(
    hour.previous?.calls,
    selected(
      calls,
      new URLSearchParams(`from=${iso(foldedUntilMs - 2 * hourMs)}&to=${iso(foldedUntilMs - hourMs)}`),
    ).length,
  )
  const ofStatus = await ask(`from=${iso(firstMs)}&status=429`)
  assert.ok(ofStatus.models !== null && ofStatus.failures !== null)
  assert.equal(ofStatus.totals.errors, calls.filter(({ status }) => status === 429).length)
  const refused = await refusalOf(`/api/overview?from=${iso(firstMs)}&min_ms=100`)
  assert.equal(refused.status, 409)
})
