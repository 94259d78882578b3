import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../call/clock.ts'
import { imaginedPast } from '../demo/imagined-past.ts'
import { pastSource } from '../demo/past-record.ts'
import { modelPrices } from '../demo/simulated-models.ts'
import { messageOf } from '../lib/errors.ts'
import { type ModelCosts, noPrices } from '../pricing/model-costs.ts'
import { PriceBook } from '../pricing/price-book.ts'
import { priceFileOf, writePriceFile } from '../pricing/price-file.ts'
import { importCalls, type ReadCall } from '../store/jobs/import-calls.ts'

/** The past is the same each time, but for when it was. */
const seed = 22

/** What the simulated models cost: as one's own prices, since the upstream is on this machine. */
export const demoCosts: ModelCosts = {
  ...noPrices,
  overrides: Object.fromEntries(
    Object.entries(modelPrices).map(([model, rates]) => [
      model,
      {
        _why: 'made up for the demo',
        source: pastSource,
        updated_at: null,
        prices: [{ effective_from: null, tiers: [{ above_input_tokens: 0, ...rates }] }],
      },
    ]),
  ),
}

/** A folder with prices, and with a past that is being written. */
export interface DemoFolder {
  readonly path: string
  readonly db: string
  /** Nothing of it is left afterwards. */
  remove(): Promise<void>
}

/** Makes the folder of a demo whose upstream is at `host`; `warn` is told in a line if its past cannot be written. */
export function makeDemoFolder(host: string, warn: (line: string) => void): DemoFolder {
  const path = mkdtempSync(join(tmpdir(), 'tokenweir-demo-'))
  const db = join(path, 'llm_telemetry.db')
  writePriceFile(priceFileOf(db), demoCosts)
  const removing = new AbortController()
  const written = writePast(db, { host, endMs: Date.now(), signal: removing.signal }).catch(
    (error: unknown) => {
      if (!removing.signal.aborted) warn(`the demo has no past: ${messageOf(error)}`)
    },
  )
  const remove = async (): Promise<void> => {
    removing.abort()
    await written
    rmSync(path, { recursive: true, force: true })
  }
  return { path, db, remove }
}

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
