import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { copyCrashed, damageShapes } from '../faults/damage-shapes.ts'
import { assertWithin } from '../support/assert-within.ts'
import { eventually } from '../support/eventually.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth, untilRecorded } from '../support/gateway-state.ts'
import { holdsLock } from '../support/holds-lock.ts'
import type { JsonRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { chatCall, idAt } from './sample-call.ts'

const crashedCalls = 1800

const images = await makeTempDir()
after(() => images[Symbol.asyncDispose]())
const upstream = await startSimulatedUpstream()
after(() => upstream.close())
before(async () => {
  await makeCrashed('own', 0)
  await makeCrashed('foreign', 1_000_000)
})

/** A database as a crash leaves it: most of it in the file, the last calls in the log. */
async function makeCrashed(name: string, fromMs: number): Promise<void> {
  const path = images.file(`${name}-live/calls.db`)
  const writer = new WriterThread({ dbPath: path, instance: name, version: '0' })
  const write = async (from: number, to: number): Promise<void> => {
    for (let ms = from; ms < to; ms++) writer.finish(chatCall(idAt(fromMs + ms)))
    await eventually('rows', () => writer.figures().written === to)
  }
  await write(0, crashedCalls - 300)
  const other = new DatabaseSync(path, { timeout: 5000 })
  const sums = other.prepare('SELECT sum(calls) AS calls FROM sums WHERE grouping_id = 0 AND minutes = 60')
  await eventually('sums', () => sums.get()?.['calls'] === crashedCalls - 300)
  const empty = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  await eventually('the log is emptied', () => empty.get()?.['busy'] === 0)
  // Who reads keeps the writer from emptying the log meanwhile.
  other.exec('BEGIN')
  sums.get()
  await write(crashedCalls - 300, crashedCalls)
  mkdirSync(images.file(name))
  copyCrashed(path, images.file(`${name}/calls.db`))
  other.close()
  await writer.close()
}

/** The folder's files, read whole. */
function contentsOf(folder: string): readonly Buffer[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path))
}

function codesIn(health: JsonRecord): readonly string[] {
  return (health['warnings'] as readonly { readonly code: string }[]).map(({ code }) => code)
}

for (const shape of damageShapes) {
  test(`at the start: ${shape.name}`, async (context) => {
    await using dir = await makeTempDir()
    const path = dir.file('data/telemetry.db')
    mkdirSync(dir.file('data'))
    copyCrashed(images.file('own/calls.db'), path)
    shape.damage(path, images.file('foreign/calls.db'))
    const kept = shape.keeps.flatMap((suffix) => {
      const isThere = statSync(path + suffix, { throwIfNoEntry: false })?.isFile() === true
      return isThere ? [{ suffix, bytes: readFileSync(path + suffix) }] : []
    })
    const modeBefore = statSync(path, { throwIfNoEntry: false })?.mode

    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      directory: dir.file('data'),
    })
    const startedMs = performance.now()
    const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      body: '{"model":"m"}',
    })
    await answer.text()
    const tookMs = performance.now() - startedMs
    assert.equal(answer.status, 200)
    assertWithin(1000, tookMs, 'the first call')
    context.diagnostic(`first call within ${tookMs.toFixed(0)} ms of listening`)
    const told = shape.code === null ? [] : [shape.code]
    const status = shape.code === null ? 'ok' : 'degraded'
    // A damaged page of sums is told of until the sums are made anew.
    await untilHealth(gateway, `told of: ${told.join()}`, (health) => {
      // What was used before is not known, either, where a file is left alone.
      const codes = codesIn(health).filter((code) => shape.end !== 'left_alone' || told.includes(code))
      return health['status'] === status && codes.join() === told.join()
    })
    if (shape.end === 'left_alone') assert.equal(statSync(path).mode, modeBefore)
    else await untilRecorded(gateway, 1)
    await gateway.stop()

    const contents = contentsOf(dir.file('data'))
    for (const { suffix, bytes } of kept) {
      assert.ok(
        contents.some((content) => content.equals(bytes)),
        `what was in ${suffix === '' ? 'the file' : suffix} is gone`,
      )
    }
    if (shape.end === 'left_alone') return
    const database = new DatabaseSync(path, { readOnly: true })
    const count = 'SELECT count(*) AS calls FROM calls INDEXED BY calls_by_seq'
    const calls = Number(database.prepare(count).get()?.['calls'])
    // Sound rows are not set aside for a page that nobody needs to record calls.
    if (shape.end === 'stays')
      assert.ok(!readdirSync(dir.file('data')).some((name) => name.includes('.corrupt-')))
    else assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
    database.close()
    // What stood in the file, and what of the log was sound.
    if (shape.end === 'goes_on' || shape.end === 'stays')
      assert.ok(calls > crashedCalls - 300, `${calls} calls`)
    else assert.equal(calls, 1)
  })
}

test('looking at the file costs the gateway none of its locks', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('data/calls.db')
  const options = { dbPath: path, instance: 'k3v9', version: '0', checkEveryMs: 5 }
  const writer = new WriterThread(options)
  writer.finish(chatCall(idAt(0)))
  await eventually('a row', () => writer.figures().written === 1)
  // Long enough for many looks. The lock keeps other programs from taking the log away.
  await delay(200)
  assert.ok(holdsLock(path))
  assert.deepEqual(writer.warnings(), [])
  await writer.close()
})
