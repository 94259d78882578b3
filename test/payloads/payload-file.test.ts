import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { CallIds, firstIdAt, formatCallId, startedAtMs } from '../../src/call/call-id.ts'
import { clearPayloads } from '../../src/payloads/file/clear-payloads.ts'
import { PayloadFile } from '../../src/payloads/file/payload-file.ts'
import { payloadsOf, recentPayloads } from '../../src/payloads/file/payload-reader.ts'
import { measureSegments } from '../../src/payloads/file/payload-segments.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { sampleLine, sampleLines } from './sample-line.ts'

const startMs = Date.UTC(2026, 10, 21, 6)
const bigSegment = 64 * 2 ** 20

async function logFolder(
  name = 'payloads.jsonl',
): Promise<AsyncDisposable & { filePath: string; folder: string; open: (sizes?: Sizes) => PayloadFile }> {
  const dir = await makeTempDir()
  const folder = dir.file('logger')
  const filePath = join(folder, name)
  const ids = new CallIds(() => Date.now(), 1)
  const nextSeq = (): number => ids.next()
  return {
    filePath,
    folder,
    open: ({ segmentBytes = bigSegment, totalBytes = 2 ** 30 } = {}) =>
      new PayloadFile({ filePath, segmentBytes, totalBytes, nextSeq }),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

interface Sizes {
  readonly segmentBytes?: number
  readonly totalBytes?: number
}

interface Recent {
  readonly entries: readonly { readonly id: string; readonly seq: number; readonly direction: string }[]
  readonly total_count: number
  readonly truncated: boolean
}

function recent(filePath: string, limit: number = 1000, bytesLimit?: number): Recent {
  return JSON.parse(Buffer.from(recentPayloads(filePath, limit, bytesLimit)).toString())
}

function idsOf(filePath: string): string[] {
  return recent(filePath).entries.map(({ id }) => id)
}

/** One a second. */
function callIds(count: number, from: number = 0): number[] {
  return Array.from({ length: count }, (_, at) => firstIdAt(startMs + (from + at) * 1000))
}

function texts(ids: readonly number[]): string[] {
  return ids.map(formatCallId)
}

/** `endedAtMs`: if it is known. */
function assertFound(filePath: string, ids: readonly number[], endedAtMs?: (id: number) => number): void {
  for (const id of ids) {
    const { request, answer } = payloadsOf(filePath, id, endedAtMs?.(id))
    assert.ok(request !== null && answer !== null, `${formatCallId(id)} is not found`)
    const records = [request, answer].map((record) => JSON.parse(Buffer.from(record).toString()))
    assert.deepEqual(fieldsOf(records, 'id', 'direction'), [
      [formatCallId(id), 'incoming'],
      [formatCallId(id), 'outgoing'],
    ])
  }
}

describe('what is appended is found', () => {
  test('newest first, each once, by call, and counted; the folder and files are the owner’s alone', async () => {
    await using log = await logFolder()
    const ids = callIds(50)
    const lines = sampleLines(ids)
    const file = log.open()
    assert.deepEqual(file.append(lines.slice(0, 33)), { written: 33, error: null })
    assert.deepEqual(file.append(lines.slice(33)), { written: 67, error: null })
    const all = recent(log.filePath)
    assert.equal(all.total_count, 100)
    assert.equal(all.truncated, false)
    assert.deepEqual(fieldsOf(all.entries, 'id'), texts(ids.flatMap((id) => [id, id]).toReversed()))
    assert.deepEqual(recent(log.filePath, 7).entries, all.entries.slice(0, 7))
    assertFound(log.filePath, ids)
    assert.deepEqual(payloadsOf(log.filePath, firstIdAt(startMs - 1)), { request: null, answer: null })
    assert.equal(statSync(log.folder).mode & 0o777, 0o700)
    for (const name of readdirSync(log.folder))
      assert.equal(statSync(join(log.folder, name)).mode & 0o777, 0o600)
    file.close()
  })

  test('a log that does not exist is empty', async () => {
    await using log = await logFolder()
    assert.deepEqual(recent(log.filePath), { entries: [], total_count: 0, truncated: false })
    assert.deepEqual(payloadsOf(log.filePath, firstIdAt(startMs)), { request: null, answer: null })
    clearPayloads(log.filePath)
    assert.equal(existsSync(log.folder), false)
  })

  test('records larger than what is read at once, and an answer that would be too large', async () => {
    await using log = await logFolder()
    const ids = callIds(3)
    const file = log.open()
    file.append(sampleLines(ids, 5 * 2 ** 20))
    const some = recent(log.filePath, 1000, 12 * 2 ** 20)
    assert.equal(some.truncated, true)
    assert.equal(some.total_count, 6)
    assert.deepEqual(fieldsOf(some.entries, 'id'), texts([ids[2]!, ids[2]!]))
    assert.equal(recent(log.filePath, 1000).entries.length, 6)
    assertFound(log.filePath, ids)
    file.close()
  })
})

describe('rotation', () => {
  test('full segments are named by their first records and how many there are, and the oldest go', async () => {
    await using log = await logFolder()
    const file = log.open({ segmentBytes: 4000, totalBytes: 20_000 })
    const ids = callIds(200)
    for (const id of ids) assert.equal(file.append(sampleLines([id])).error, null)
    const names = readdirSync(log.folder).filter((name) => name.endsWith('.jsonl'))
    const total = names.reduce((sum, name) => sum + statSync(join(log.folder, name)).size, 0)
    assert.ok(total <= 20_000 + 4000 && total > 12_000, `${total}`)
    assert.equal(await measureSegments(log.filePath), total)
    for (const name of names.filter((other) => other !== 'payloads.jsonl')) {
      const { size } = statSync(join(log.folder, name))
      const [, seq, records] = new RegExp(`^payloads\\.(\\d+)-(\\d+)-${size}\\.jsonl$`).exec(name) ?? []
      const lines = readFileSync(join(log.folder, name), 'utf8').trimEnd().split('\n')
      assert.equal(Number(records), lines.length)
      const seqs = lines.map((line) => JSON.parse(line).seq)
      assert.ok(Number(seq) >= Math.min(...seqs) && Number(seq) <= Math.max(...seqs), name)
    }
    assert.equal(readdirSync(log.folder).length, names.length + 1, 'and the lock, and nothing else')
    const kept = [...new Set(idsOf(log.filePath))]
    assert.deepEqual(kept, texts(ids).toReversed().slice(0, kept.length))
    assertFound(log.filePath, ids.slice(-kept.length + 1))
    assert.equal(recent(log.filePath).total_count, recent(log.filePath).entries.length)
    file.close()
  })

  test('a log whose name has no extension keeps to its limit, is found, and is cleared whole', async () => {
    await using log = await logFolder('payloads')
    const file = log.open({ segmentBytes: 4000, totalBytes: 20_000 })
    const ids = callIds(200)
    for (const id of ids) assert.equal(file.append(sampleLines([id])).error, null)
    file.close()
    const sizes = readdirSync(log.folder).map((name) => statSync(join(log.folder, name)).size)
    const total = sizes.reduce((sum, size) => sum + size)
    assert.ok(total <= 20_000 + 4000, `${total}`)
    assert.equal(await measureSegments(log.filePath), total)
    assertFound(log.filePath, ids.slice(-30))
    clearPayloads(log.filePath)
    assert.deepEqual(readdirSync(log.folder).toSorted(), ['payloads', 'payloads.lock'])
  })

  test('an answer that came hours later is found from the call’s id', async () => {
    await using log = await logFolder()
    const file = log.open({ segmentBytes: 2000 })
    const [early, ...others] = callIds(100)
    file.append([sampleLine(early!, 'incoming')])
    for (const id of others) file.append(sampleLines([id]))
    file.append([sampleLine(early!, 'outgoing', 20, others.at(-1)! + 2)])
    assertFound(log.filePath, [early!, ...others])
    assertFound(log.filePath, [early!, ...others], (id) => startedAtMs(id === early ? others.at(-1)! : id))
    file.close()
  })

  test('records that were held back do not mislead: neither the order of segments nor the search by call', async () => {
    await using log = await logFolder()
    const file = log.open({ segmentBytes: 1000 })
    const ids = callIds(30)
    for (const id of ids) {
      // Each segment may begin with a request that is much older than what stands before it.
      file.append([sampleLine(id - 4096 * 3_600_000, 'incoming', 20, ids[0]! - 5), ...sampleLines([id])])
    }
    const order = [...new Set(idsOf(log.filePath))].filter((id) => texts(ids).includes(id))
    assert.deepEqual(order, texts(ids).toReversed())
    assertFound(log.filePath, ids)
    assertFound(log.filePath, ids, startedAtMs)
    file.close()
  })
})

describe('torn lines', () => {
  const whole = sampleLine(firstIdAt(startMs + 5000), 'incoming').toString()

  test('wherever a line was torn, it is not shown, and what is written next is', async () => {
    await using log = await logFolder()
    const ids = callIds(2)
    for (const cut of [1, 7, 30, 100, whole.length - 3, whole.length - 2, whole.length - 1]) {
      rmSync(log.folder, { recursive: true, force: true })
      log.open().append(sampleLines([ids[0]!]))
      appendFileSync(log.filePath, whole.slice(0, cut))
      assert.deepEqual(idsOf(log.filePath), texts([ids[0]!, ids[0]!]), 'before the next write')
      const next = log.open()
      assert.equal(next.append(sampleLines([ids[1]!])).written, 2)
      next.close()
      assert.deepEqual(idsOf(log.filePath), texts([ids[1]!, ids[1]!, ids[0]!, ids[0]!]), `cut at ${cut}`)
      assert.equal(recent(log.filePath).total_count, 4)
      assertFound(log.filePath, ids)
    }
  })

  test('one that another process leaves while this one has the file open', async () => {
    await using log = await logFolder()
    const ids = callIds(3)
    const file = log.open()
    file.append(sampleLines([ids[0]!]))
    appendFileSync(log.filePath, `${whole.slice(0, -3)}}`)
    file.append(sampleLines([ids[1]!]))
    file.append(sampleLines([ids[2]!]))
    file.close()
    assert.deepEqual([...new Set(idsOf(log.filePath))], texts(ids.toReversed()))
    assertFound(log.filePath, ids)
  })
})

describe('records are counted', () => {
  test('whatever a segment’s name says, if another process wrote to it when it had its name', async () => {
    await using log = await logFolder()
    const file = log.open({ segmentBytes: 1000 })
    const ids = callIds(20)
    for (const id of ids) file.append(sampleLines([id]))
    const full = readdirSync(log.folder).find((name) => /\d/.test(name))!
    appendFileSync(join(log.folder, full), sampleLines(callIds(1, 50)).join(''))
    assert.equal(recent(log.filePath).total_count, 42)
    file.close()
  })

  test('anew, when the file was cleared, renamed or written anew', async () => {
    await using log = await logFolder()
    const count = (): number => recent(log.filePath).total_count
    const file = log.open()
    file.append(sampleLines(callIds(10)))
    assert.equal(count(), 20)
    file.append(sampleLines(callIds(1, 10)))
    appendFileSync(log.filePath, sampleLine(firstIdAt(startMs), 'incoming').subarray(0, 50))
    assert.equal(count(), 22)
    clearPayloads(log.filePath)
    assert.equal(count(), 0)
    file.append(sampleLines(callIds(30, 20)))
    assert.equal(count(), 60)
    renameSync(log.filePath, join(log.folder, 'payloads.1-1-1.jsonl'))
    file.append(sampleLines(callIds(2, 60)))
    assert.equal(count(), 64)
    file.close()
  })
})

describe('a log that is taken away', () => {
  const removals: Record<string, (filePath: string) => void> = {
    'its file': (filePath) => rmSync(filePath),
    'its folder': (filePath) => rmSync(dirname(filePath), { recursive: true }),
    'its file, renamed': (filePath) => renameSync(filePath, `${filePath}.old`),
  }
  for (const [name, remove] of Object.entries(removals)) {
    test(`${name}: the next write makes it anew`, async () => {
      await using log = await logFolder()
      const ids = callIds(2)
      const file = log.open()
      file.append(sampleLines([ids[0]!]))
      remove(log.filePath)
      assert.deepEqual(file.append(sampleLines([ids[1]!])), { written: 2, error: null })
      assert.deepEqual(idsOf(log.filePath), texts([ids[1]!, ids[1]!]))
      assertFound(log.filePath, [ids[1]!])
      file.close()
    })
  }

  test('clear empties the active file, deletes the others, and a writer goes on', async () => {
    await using log = await logFolder()
    const file = log.open({ segmentBytes: 4000 })
    const ids = callIds(100)
    for (const id of ids.slice(0, 90)) file.append(sampleLines([id]))
    clearPayloads(log.filePath)
    assert.deepEqual(recent(log.filePath), { entries: [], total_count: 0, truncated: false })
    assert.deepEqual(readdirSync(log.folder).toSorted(), ['payloads.jsonl', 'payloads.jsonl.lock'])
    assert.equal(statSync(log.filePath).size, 0)
    for (const id of ids.slice(90)) file.append(sampleLines([id]))
    assert.deepEqual([...new Set(idsOf(log.filePath))], texts(ids.slice(90)).toReversed())
    assertFound(log.filePath, ids.slice(90))
    file.close()
  })

  test('a file where the folder should be is told, and nothing is thrown', async () => {
    await using log = await logFolder()
    writeFileSync(log.folder, 'a file')
    const { written: kept, error } = log.open().append(sampleLines(callIds(1)))
    assert.equal(kept, 0)
    assert.match(String(error), /EEXIST|ENOTDIR/)
    rmSync(log.folder)
    assert.equal(log.open().append(sampleLines(callIds(1))).written, 2)
  })
})
