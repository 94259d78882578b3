import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumAll } from '../../../bench/generate/add-past.ts'
import { chatCall, idAt, sampleStartMs } from '../../../test/store/sample-call.ts'
import { assertTold, dayMs, variedCall } from '../../../test/store/told-of-calls.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { firstIdAt } from '../../call/call-id.ts'
import type { CallRecord } from '../../call/call-record.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { foldCalls } from './fold-calls.ts'
import { Summing } from './summing.ts'
import { hourMs } from './time-plan.ts'
import { noteChange, noteDay } from './unsummed.ts'
import { assertSound } from '../../../test/store/assert-sound.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

const days = 4
const fromMs = Math.floor(sampleStartMs / dayMs) * dayMs
const toMs = fromMs + days * dayMs
const laterMs = toMs + dayMs

async function setUp() {
  const dir = await makeTempDir()
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  const random = seededRandom(3)
  const calls: CallRecord[] = []
  return {
    path,
    database,
    calls,
    statements: new RowStatements(database),
    random,
    write: (count: number) => {
      const added = Array.from({ length: count }, (_, index) => {
        const hour = 4 * Math.floor(random() * 5) + random()
        const atMs = fromMs + Math.floor(random() * days) * dayMs + hour * hourMs
        return variedCall(Math.floor(atMs), calls.length + index, random)
      })
      calls.push(...added)
      writeCalls(database, added)
    },
    [Symbol.asyncDispose]: async () => {
      database.close()
      await dir[Symbol.asyncDispose]()
    },
  }
}

function assertSummed(path: string): void {
  const { callsToAdd, days } = assertSound(path)
  assert.equal(callsToAdd, 0)
  assert.ok(days.of > 0)
}

test('hours that change while two processes sum them up, with calls that come late: each call counts once', async () => {
  await using run = await setUp()
  run.write(300)
  sumAll(run.database, laterMs)
  while (foldCalls(run.database)(fromMs + dayMs, 1000) !== 0);
  using other = openForWriting(run.path)
  const both = [new Summing(run.database), new Summing(other)]
  for (let round = 0; round < 150; round++) {
    if (round % 3 === 0) run.write(1 + (round % 4))
    if (round % 5 === 0) noteChange(run.statements, fromMs / hourMs + Math.floor(run.random() * 24 * days))
    if (round % 11 === 0) noteDay(run.statements, fromMs / dayMs + Math.floor(run.random() * days))
    // A few steps of one, between those of the other.
    both[Math.floor(run.random() * 2)]!.step(laterMs, 1 + (round % 7))
    if (round % 10 === 0) await assertTold(run.path, run.calls, fromMs, toMs)
  }
  sumAll(run.database, laterMs)
  await assertTold(run.path, run.calls, fromMs, toMs)
  assertSummed(run.path)
})

test('an hour that grows by 25,000 calls between two runs is not read from its start again', async () => {
  await using run = await setUp()
  const writeMany = (): void => {
    const first = run.calls.length
    run.calls.push(...Array.from({ length: 25_000 }, (_, index) => chatCall(idAt(first + index))))
    writeCalls(run.database, run.calls.slice(first))
  }
  const summing = new Summing(run.database)
  const stepsToEnd = (): number => {
    let steps = 1
    while (summing.step(sampleStartMs + hourMs, 5000)) steps++
    return steps
  }
  writeMany()
  assert.equal(stepsToEnd(), 6)
  writeMany()
  assert.equal(stepsToEnd(), 6)
})

test('a folded hour is never made anew', async () => {
  await using run = await setUp()
  run.write(200)
  sumAll(run.database, laterMs)
  while (foldCalls(run.database)(fromMs + dayMs, 1000) !== 0);
  assert.equal(noteChange(run.statements, fromMs / hourMs), false)
  assert.equal(noteChange(run.statements, (fromMs + dayMs) / hourMs), true)
  sumAll(run.database, laterMs)
  await assertTold(run.path, run.calls, fromMs, toMs)
})

test('a day whose sums lack a call is not folded', async () => {
  await using run = await setUp()
  run.write(200)
  assert.equal(foldCalls(run.database)(fromMs + dayMs, 1000), null)
  sumAll(run.database, laterMs)
  assert.ok(foldCalls(run.database)(fromMs + dayMs, 1000) !== null)
})

test('many calls that the sums lack are read hour by hour', async () => {
  await using run = await setUp()
  run.write(100)
  sumAll(run.database, laterMs)
  for (let batch = 0; batch < 21; batch++) run.write(1000)
  await assertTold(run.path, run.calls, fromMs, toMs)
  const summing = new Summing(run.database, undefined, 20_000)
  for (let step = 0; step < 9; step++) summing.step(laterMs, 200)
  run.write(100)
  await assertTold(run.path, run.calls, fromMs, toMs)
  while (summing.step(laterMs, 5000));
  await assertTold(run.path, run.calls, fromMs, toMs)
  noteChange(run.statements, fromMs / hourMs)
  run.write(10)
  await assertTold(run.path, run.calls, fromMs, toMs)
  while (summing.step(laterMs, 5000));
  await assertTold(run.path, run.calls, fromMs, toMs)
  assertSummed(run.path)
})

test('an hour that another process sums up or changes while it is read: each call counts once, as it is now', async () => {
  await using run = await setUp()
  for (let batch = 0; batch < 21; batch++) run.write(1000)
  sumAll(run.database, laterMs)
  using other = openForWriting(run.path)
  const [reading, quicker] = [new Summing(run.database, undefined, 20_000), new Summing(other)]
  const beginHour = (): void => {
    noteChange(run.statements, fromMs / hourMs)
    // The first step chooses the hour, the second reads the first of its calls.
    for (let step = 0; step < 2; step++) reading.step(laterMs, 100)
  }

  beginHour()
  for (let step = 0; step < 2; step++) quicker.step(laterMs, 5000)
  reading.step(laterMs, 5000)
  await assertTold(run.path, run.calls, fromMs, toMs)

  beginHour()
  const [first, past] = [firstIdAt(fromMs), firstIdAt(fromMs + hourMs)]
  run.statements.run('UPDATE calls SET input_tokens = input_tokens + 1 WHERE id >= ? AND id < ?', first, past)
  noteChange(run.statements, fromMs / hourMs)
  reading.step(laterMs, 5000)
  const changed = run.calls.map((call) =>
    call.id >= first && call.id < past ? { ...call, inputTokens: (call.inputTokens ?? 0) + 1 } : call,
  )
  await assertTold(run.path, changed, fromMs, toMs)
  while (reading.step(laterMs, 5000));
  await assertTold(run.path, changed, fromMs, toMs)
  assertSummed(run.path)
})
