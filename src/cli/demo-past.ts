import type { ReadCall } from '../call/call-record.ts'
import type { GatewayMinute } from '../call/call-sink.ts'
import { systemClock } from '../call/clock.ts'
import { demoPast, pastDays, pastSlots, pastSource } from '../demo/demo-past.ts'
import { pastMinutes } from '../demo/past.ts'
import { PriceBook } from '../pricing/price-book.ts'
import { importCalls } from '../store/jobs/import-calls.ts'
import { runJob } from '../store/jobs/job.ts'
import { HistoryWriter } from '../store/write/history-writer.ts'
import { demoCosts } from './demo-prices.ts'

/** The seed is fixed, so each demo has the same past, at another time. */
const seed = 22
const dayMs = 86_400_000
/** Minutes in one write. The running gateway writes between two of these. */
const minutesAtOnce = 240
const pauseMs = 20

/**
 * Adds fifteen days of simulated calls and slot use to a database. Calls that are there already are not added
 * again. Rejects when it is aborted.
 */
export async function writePast(
  db: string,
  { host, endMs, signal }: { readonly host: string; readonly endMs: number; readonly signal?: AbortSignal },
): ReturnType<typeof importCalls> {
  const minutes: GatewayMinute[] = []
  const delay = (ms: number): Promise<void> => systemClock.delay(ms, signal)
  let line = 0
  const calls = async function* (): AsyncGenerator<ReadCall> {
    for (const { calls, notes } of pastMinutes(demoPast(endMs, seed, host))) {
      // The dashboard can answer between two steps.
      if (minutes.length % 60 === 0) await delay(0)
      minutes.push(...notes)
      for (const call of calls)
        yield { line: line++, call, identity: BigInt(call.id), problem: '', notes: [] }
    }
  }
  const imported = await importCalls(
    db,
    {
      source: pastSource,
      file: 'made up by tokenweir demo',
      calls: calls(),
      dryRun: false,
      progress: () => ({ done: line, total: line }),
    },
    { clock: { ...systemClock, delay }, onProgress: () => undefined, pricer: new PriceBook(demoCosts) },
  )
  if (typeof imported === 'string') return imported
  const written = await runJob(db, async (database) => {
    const history = new HistoryWriter(database, { instance: 'demo-past', version: '' })
    const detail = JSON.stringify({ max_concurrent: pastSlots })
    history.write([], [{ atMs: endMs - pastDays * dayMs, kind: 'start', detail }])
    for (let first = 0; first < minutes.length; first += minutesAtOnce) {
      history.write(minutes.slice(first, first + minutesAtOnce), [])
      await delay(pauseMs)
    }
  })
  return typeof written === 'string' ? written : imported
}
