import { setImmediate } from 'node:timers/promises'
import { parseCallId } from '../call/call-id.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { CallReader } from '../call/call-reader.ts'
import { FoldedRangeError } from '../call/no-answer.ts'
import type { CallEncoder } from './call-encoder.ts'

/**
 * Calls of a page. Each page is a separate transaction, so that the database's log can be emptied between two
 * pages.
 */
const pageCalls = 500

/** Progress of an export; at the end, its result. */
export interface ExportProgress {
  readonly calls: number
  /** Starts of the first and the last exported call: ISO 8601, UTC; null without calls. */
  readonly first: string | null
  readonly last: string | null
}

/** The result of an export: its calls, and the missing ones. */
export interface Exported extends ExportProgress {
  /** Calls of the filter that are missing because they are folded into sums; null without such calls. */
  readonly folded: FoldedCalls | null
}

/** Folded calls before an instant; `calls` is null if the sums lack the filter's fields. */
export interface FoldedCalls {
  readonly untilMs: number
  readonly calls: number | null
}

/**
 * Writes all calls of a filter, newest first, in constant memory. Calls that begin meanwhile are left out.
 * Rejects with the errors of `write` and of the reader.
 */
export async function exportCalls(
  reader: CallReader,
  filter: CallFilter,
  encoder: CallEncoder,
  write: (bytes: Uint8Array | string) => Promise<void>,
  onProgress: (progress: ExportProgress) => void = () => {},
): Promise<Exported> {
  const foldedMs = (await reader.foldedUntilMs()) ?? 0
  const foldedText = new Date(foldedMs).toISOString()
  let done: ExportProgress = { calls: 0, first: null, last: null }
  let inFolded = 0
  await write(encoder.start())
  for (let beforeId: number | null = null; ;) {
    const page = await reader.list(filter, { limit: pageCalls, ...(beforeId !== null && { beforeId }) })
    const oldest = page.at(-1)
    if (oldest === undefined) break
    await write(encoder.add(page))
    inFolded += page.filter(({ started_at }) => started_at < foldedText).length
    done = {
      calls: done.calls + page.length,
      first: oldest.started_at,
      last: done.last ?? page[0]?.started_at ?? null,
    }
    onProgress(done)
    if (page.length < pageCalls) break
    beforeId = parseCallId(oldest.id)
    // Signals are handled between two pages.
    await setImmediate()
  }
  await write(encoder.end())
  return { ...done, folded: await foldedOf(reader, filter, foldedMs, inFolded) }
}

/**
 * The folded calls of a filter; null without any. While calls are folded, some are still rows: `exported` of
 * them are in the export.
 */
async function foldedOf(
  reader: CallReader,
  filter: CallFilter,
  knownMs: number,
  exported: number,
): Promise<FoldedCalls | null> {
  const untilMs = (await reader.foldedUntilMs()) ?? 0
  const fromMs = filter.fromMs ?? (await reader.extent())?.firstMs ?? untilMs
  const toMs = Math.min(untilMs, filter.toMs ?? untilMs)
  if (fromMs >= toMs) return null
  // Calls were folded during the export: some of them had been read before, an unknown number.
  if (untilMs !== knownMs) return { untilMs, calls: null }
  try {
    const question = { filter, edgesMs: [fromMs, toMs], dimension: null, isSumsOnly: true } as const
    const calls = (await reader.aggregate(question)).summary.calls - exported
    return calls > 0 ? { untilMs, calls } : null
  } catch (error) {
    if (error instanceof FoldedRangeError) return { untilMs, calls: null }
    throw error
  }
}
