import { waitingIn } from '../../store/share/share-state.ts'
import { Outbox } from '../../store/share/outbox.ts'
import { openForReading, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import { sendRows, type ShareSettings } from './share-loops.ts'
import { textArray } from './shared-database.ts'

/** Rows of the file, and how many of them are in the shared database. */
export interface MoveResult {
  readonly calls: number
  readonly shared_calls: number
}

const pollEveryMs = 200

/**
 * Sends all rows of a file, or waits until the gateway's own process has sent them, then counts both sides.
 * The move may be killed at any time, and started again.
 */
export async function moveRows(
  settings: ShareSettings,
  onProgress: (progress: { readonly done: number; readonly total: number }) => void,
): Promise<MoveResult | StoreAbsence> {
  const { path, clock, connect } = settings
  const opened = openForReading(path)
  if (typeof opened === 'string') return opened
  opened.close()
  // A wrong address or password fails here, at once.
  const shared = await connect()
  const ending = new AbortController()
  const sending = sendRows(settings, ending.signal)
  try {
    for (let total = 0; ;) {
      await clock.delay(pollEveryMs)
      const waiting = waitingIn(path)
      // Until the first look at the shared database.
      if (waiting === null || waiting.passedSeq === null) continue
      const { rows } = waiting
      total = Math.max(total, rows)
      onProgress({ done: total - rows, total })
      if (rows === 0) break
    }
    ending.abort()
    await sending
    return await count(path, shared)
  } finally {
    ending.abort()
    shared.close()
    await sending
  }
}

async function count(
  path: string,
  shared: Awaited<ReturnType<ShareSettings['connect']>>,
): Promise<MoveResult | StoreAbsence> {
  const database = openForReading(path)
  if (typeof database === 'string') return database
  using closing = database
  const here = new Outbox(closing).callsByInstance()
  const sql = `SELECT w.text, count(*) FROM tokenweir.words AS w JOIN tokenweir.calls AS c ON c.instance_id = w.id
    WHERE w.text = ANY($1::text[]) GROUP BY w.text`
  const there = new Map(
    (await shared.query(sql, [textArray([...here.keys()])])) as readonly (readonly [string, number])[],
  )
  let [calls, sharedCalls] = [0, 0]
  for (const [instance, its] of here) {
    calls += its
    // The shared database may have more calls, which are folded here, or are just being recorded.
    sharedCalls += Math.min(its, there.get(instance) ?? 0)
  }
  return { calls, shared_calls: sharedCalls }
}
