import { systemClock } from '../call/clock.ts'
import { imaginedPast } from '../demo/imagined-past.ts'
import { pastSource } from '../demo/past-record.ts'
import { PriceBook } from '../pricing/price-book.ts'
import { importCalls, type ReadCall } from '../store/jobs/import-calls.ts'
import { demoCosts } from './demo-prices.ts'

/** The past is the same each time, but for when it was. */
const seed = 22

/** Adds two weeks of made-up calls to a database, none of them twice. Rejects when it is told to end. */
export async function writePast(
  db: string,
  { host, endMs, signal }: { readonly host: string; readonly endMs: number; readonly signal?: AbortSignal },
): ReturnType<typeof importCalls> {
  const delay = (ms: number): Promise<void> => systemClock.delay(ms, signal)
  let line = 0
  const calls = async function* (): AsyncGenerator<ReadCall> {
    for (const hour of imaginedPast({ endMs, seed, upstream: host })) {
      // The dashboard answers in between.
      await delay(0)
      for (const call of hour) yield { line: line++, call, problem: '' }
    }
  }
  return await importCalls(
    db,
    {
      source: pastSource,
      file: 'made up by tokenweir demo',
      hasIds: false,
      calls: calls(),
      dryRun: false,
      progress: () => ({ done: line, total: line }),
    },
    { clock: { ...systemClock, delay }, onProgress: () => undefined, pricer: new PriceBook(demoCosts) },
  )
}
