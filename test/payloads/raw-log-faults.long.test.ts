import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { parseCallId } from '../../src/call/call-id.ts'
import { clearPayloads } from '../../src/payloads/file/clear-payloads.ts'
import { payloadsOf, recentPayloads } from '../../src/payloads/file/payload-reader.ts'
import { listSegments } from '../../src/payloads/file/payload-segments.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { until } from './log-under-test.ts'

const random = seededRandom(1)

interface Logging {
  readonly child: ChildProcess
  /** Calls that were seen in the file. */
  readonly calls: string[]
  readonly ended: Promise<{
    readonly enabled: boolean
    readonly trouble: string | null
    readonly dropped: number
  } | null>
}

function startLogging(
  filePath: string,
  sizes: { segmentBytes: number; totalBytes?: number; idBits?: number; calls?: number; pauseMs?: number },
): Logging {
  const { segmentBytes, totalBytes = 2 ** 30, idBits = 1, calls = 1_000_000, pauseMs = 1 } = sizes
  const program = new URL('./logging-program.ts', import.meta.url).pathname
  const args = [program, filePath, ...[segmentBytes, totalBytes, idBits, calls, pauseMs].map(String)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const seen: string[] = []
  let rest = ''
  let end: string | null = null
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('call ')) seen.push(line.slice('call '.length))
      else end = line.slice('end '.length)
    }
  })
  return {
    child,
    calls: seen,
    ended: once(child, 'close').then(() => (end === null ? null : JSON.parse(end))),
  }
}

async function seenCalls(logging: Logging, count: number): Promise<void> {
  while (logging.calls.length < count && logging.child.exitCode === null) await delay(1)
}

/** Every record that readers show, from all segments; it must be whole. */
function shown(filePath: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const { entries } = JSON.parse(Buffer.from(recentPayloads(filePath, 10_000_000, 2 ** 30)).toString())
  for (const { id, direction } of entries) {
    const directions = found.get(id) ?? []
    directions.push(direction)
    found.set(id, directions)
  }
  return found
}

/** Of many calls some from all over them. */
function assertFoundById(filePath: string, calls: readonly string[]): void {
  const step = Math.ceil(calls.length / 300)
  for (const id of calls.filter((_, at) => at % step === 0)) {
    const { request, answer } = payloadsOf(filePath, parseCallId(id) ?? 0)
    assert.ok(request !== null && answer !== null, `${id} is not found`)
  }
}

test('kill -9 at any instant, again and again: nothing torn is ever shown, and what stood in the file is found', async () => {
  await using dir = await makeTempDir()
  const filePath = dir.file('logger/payloads.jsonl')
  const all: string[] = []
  for (let round = 0; round < 4; round++) {
    const logging = startLogging(filePath, { segmentBytes: 300_000 })
    await seenCalls(logging, 40)
    await delay(random() * 40)
    logging.child.kill('SIGKILL')
    await logging.ended
    all.push(...logging.calls)
    const records = shown(filePath)
    for (const id of all)
      assert.deepEqual(records.get(id), ['outgoing', 'incoming'], `${id} in round ${round}`)
  }
  assertFoundById(filePath, all)
})

test('two processes append and rotate at once: every line is whole, and each call is found by its id', async () => {
  await using dir = await makeTempDir()
  const filePath = dir.file('logger/payloads.jsonl')
  const both = [1, 2].map((idBits) => startLogging(filePath, { segmentBytes: 100_000, idBits, calls: 1000 }))
  for (const { ended } of both) assert.deepEqual(await ended, { enabled: true, trouble: null, dropped: 0 })
  const segments = listSegments(filePath)
  assert.ok(segments.length > 10, `${segments.length} segments`)
  const lines = segments.flatMap(({ path }) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  )
  for (const line of lines) JSON.parse(line)
  assert.equal(lines.length, 4000)
  const calls = both.flatMap((logging) => logging.calls)
  assert.equal(new Set(calls).size, 2000)
  assertFoundById(filePath, calls)
  assert.deepEqual(new Set(shown(filePath).keys()), new Set(calls))
  const total = JSON.parse(Buffer.from(recentPayloads(filePath, 1)).toString()).total_count
  assert.equal(total, 4000)
})

test('one of two processes is killed while both append: what the other wrote is whole', async () => {
  await using dir = await makeTempDir()
  const filePath = dir.file('logger/payloads.jsonl')
  const lasting = startLogging(filePath, { segmentBytes: 200_000, idBits: 1, pauseMs: 10 })
  for (let round = 0; round < 3; round++) {
    const other = startLogging(filePath, { segmentBytes: 200_000, idBits: 2 + round })
    await seenCalls(other, 20 + Math.floor(random() * 60))
    other.child.kill('SIGKILL')
    await other.ended
  }
  lasting.child.kill('SIGKILL')
  await lasting.ended
  const records = shown(filePath)
  for (const id of lasting.calls) assert.deepEqual(records.get(id)?.toSorted(), ['incoming', 'outgoing'])
  assertFoundById(filePath, lasting.calls)
})

test('cleared and read while two processes log: the log goes on, and nothing torn is shown', async () => {
  await using dir = await makeTempDir()
  const filePath = dir.file('logger/payloads.jsonl')
  const both = [1, 2].map((idBits) => startLogging(filePath, { segmentBytes: 50_000, idBits, calls: 2000 }))
  await Promise.all(both.map((logging) => seenCalls(logging, 100)))
  for (let round = 0; round < 30 && both.every(({ child }) => child.exitCode === null); round++) {
    if (round % 3 === 0) clearPayloads(filePath)
    shown(filePath)
    await delay(5)
  }
  for (const { ended } of both) assert.deepEqual(await ended, { enabled: true, trouble: null, dropped: 0 })
  clearPayloads(filePath)
  assert.equal(shown(filePath).size, 0)
  assert.deepEqual(fieldsOf(listSegments(filePath), 'bytes'), [0])
})

describe('a disk that takes no more', () => {
  test('in the middle of a write: logging ends with a word, what is whole stays, and it goes on when there is room', async () => {
    await using dir = await makeTempDir()
    const filePath = dir.file('logger/payloads.jsonl')
    const logging = startLogging(filePath, { segmentBytes: 2 ** 30 })
    await seenCalls(logging, 40)
    const size = statSync(filePath).size
    // Writes beyond it are cut short, and then refused.
    execFileSync('prlimit', ['--pid', String(logging.child.pid), `--fsize=${size + 200_000}:`])
    const end = await logging.ended
    assert.match(end?.trouble ?? '', /payloads\.jsonl/)
    assert.equal(end?.enabled, false)
    assert.ok((end?.dropped ?? 0) > 0)
    const records = shown(filePath)
    const kept = logging.calls.filter((id) => records.get(id)?.length === 2)
    assert.ok(kept.length >= 40)
    const next = startLogging(filePath, { segmentBytes: 2 ** 30, calls: 100 })
    assert.deepEqual(await next.ended, { enabled: true, trouble: null, dropped: 0 })
    assertFoundById(filePath, [...kept, ...next.calls])
  })

  test('the folder deleted under way: it is made anew', async () => {
    await using dir = await makeTempDir()
    const filePath = dir.file('logger/payloads.jsonl')
    const logging = startLogging(filePath, { segmentBytes: 100_000 })
    await seenCalls(logging, 40)
    rmSync(dirname(filePath), { recursive: true, maxRetries: 20, retryDelay: 1 })
    // What it wrote until then has gone with the folder.
    await until(() => existsSync(filePath))
    logging.child.kill('SIGTERM')
    assert.deepEqual(await logging.ended, { enabled: true, trouble: null, dropped: 0 })
    assertFoundById(filePath, logging.calls.slice(-20))
  })
})
