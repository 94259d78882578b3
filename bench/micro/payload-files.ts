/**
 * What reading of the raw log takes: `node bench/micro/payload-files.ts [MB of log] [folder]`. Makes a log of
 * records of 2 kB on average, in segments of 64 MB, and asks it as the gateway and the dashboard do: warm, and cold
 * (files dropped from the page cache by `sync` and `dd … iflag=nocache`). Prints median and worst; asserts nothing.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CallIds, formatCallId, startedAtMs } from '../../src/call/call-id.ts'
import { PayloadFile } from '../../src/payloads/file/payload-file.ts'
import { payloadsOf, recentPayloads } from '../../src/payloads/file/payload-reader.ts'
import { measureSegments } from '../../src/payloads/file/payload-segments.ts'

const megabytes = Number(process.argv[2] ?? 1024)
const runs = 20
const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'tokenweir-bench-'))
const filePath = join(folder, 'payloads.jsonl')

/** Writes one call for every 100 ms. */
function makeLog(): number[] {
  let nowMs = Date.UTC(2026, 10, 1)
  const ids = new CallIds(() => nowMs, 1)
  const sizes = { segmentBytes: 64 * 2 ** 20, totalBytes: 2 ** 40 }
  const file = new PayloadFile({ filePath, ...sizes, nextSeq: () => ids.next() })
  const calls: number[] = []
  for (let bytes = 0; bytes < megabytes * 2 ** 20;) {
    const lines = Array.from({ length: 100 }, () => {
      nowMs += 100
      const callId = ids.next()
      calls.push(callId)
      return ['incoming', 'outgoing'].map((direction) => record(callId, direction, ids.next()))
    }).flat()
    bytes += lines.reduce((sum, line) => sum + line.length, 0)
    file.append(lines)
  }
  file.close()
  return calls
}

/** 0.2 to 12 kB, few of them large. */
function record(callId: number, direction: string, seq: number): Buffer {
  const timestamp = '2026-11-21T06:00:00.000Z'
  const text = 'word '.repeat(Math.floor(Math.random() ** 5 * 2200))
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: text }] }
  const head = {
    id: formatCallId(callId),
    seq,
    timestamp,
    direction,
    method: 'POST',
    path: '/v1/chat/completions',
  }
  return Buffer.from(`${JSON.stringify({ ...head, status: null, headers: {}, body })}\n`)
}

function forgetFiles(): void {
  execFileSync('sync')
  for (const name of readdirSync(folder)) {
    execFileSync('dd', [`if=${join(folder, name)}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
  }
}

function report(what: string, before: () => void, work: () => unknown): void {
  const figures = Array.from({ length: runs }, () => {
    before()
    const begunAtMs = performance.now()
    work()
    return performance.now() - begunAtMs
  }).sort((one, other) => one - other)
  const [median, worst] = [figures[runs >> 1] ?? 0, figures.at(-1) ?? 0]
  console.log(
    `${what.padEnd(60)} median ${median.toFixed(1).padStart(7)} ms   worst ${worst.toFixed(1).padStart(7)} ms`,
  )
}

try {
  const calls = makeLog()
  console.log(`${calls.length * 2} records, ${((await measureSegments(filePath)) / 2 ** 20).toFixed(0)} MB`)
  const ask = (): number => recentPayloads(filePath, 1000).length
  const anyCall = (): number => calls[Math.floor(Math.random() * calls.length)] ?? 0
  const nothing = (): void => {}
  report('recent?limit=1000, warm', nothing, ask)
  report('the same, cold', forgetFiles, ask)
  report('payloads of a call, warm', nothing, () => payloadsOf(filePath, anyCall()))
  report('the same, cold', forgetFiles, () => payloadsOf(filePath, anyCall()))
  const absent = (calls[0] ?? 0) + 1
  const endedAtMs = startedAtMs(absent) + 10_000
  report('payloads of an old call that has none, warm', nothing, () =>
    payloadsOf(filePath, absent, endedAtMs),
  )
  report('the same, of which the database knows nothing', nothing, () => payloadsOf(filePath, absent))
} finally {
  rmSync(folder, { recursive: true })
}
