import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../call/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { tryFileLock } from '../../lib/files/file-lock.ts'
import { updateSums } from '../../store/rollup/update-sums.ts'
import { Inbox } from '../../store/share/inbox.ts'
import { Outbox } from '../../store/share/outbox.ts'
import { openForWriting } from '../../store/sqlite/open-store.ts'
import { fileKey } from '../../store/sqlite/store-files.ts'
import { historySender } from './history-sender.ts'
import { type PullProgress, rowPuller } from './row-puller.ts'
import { rowSender } from './row-sender.ts'
import type { SharedDatabase } from './shared-database.ts'
import { sharedFiles } from './shared-files.ts'
import { SharedDictionary } from './shared-dictionary.ts'
import { identifyStore } from './store-identity.ts'

/** The rows that the loops send and fetch, and their limits. */
export interface ShareSettings {
  /** The path of the local database. */
  readonly path: string
  /** Connects to the shared database. Rejects with a message for people. */
  readonly connect: () => Promise<SharedDatabase>
  /** Days before now whose calls the first copy has; null for all. */
  readonly shareDays: number | null
  readonly clock: Pick<Clock, 'after' | 'delay' | 'wallTime' | 'now'>
  readonly warn: (message: string) => void
}

type LocalDatabase = ReturnType<typeof openForWriting>

/** The work of sending, or of pulling. */
interface Loop {
  readonly lock: string
  /** Starts work beside the loop, and returns a function that ends it before the file is closed. */
  readonly beside?: (local: LocalDatabase) => () => void
  /** Resolves with the step of the loop. A step resolves with the wait before the next step, in ms. */
  readonly begin: (local: LocalDatabase, shared: SharedDatabase) => Promise<() => Promise<number>>
}

const pollEveryMs = 150
const historyEveryMs = 700
const lockEveryMs = 1000
/** Most steps at the end to send waiting rows. The rest waits for the next start. */
const lastSteps = 20
const retry = { firstMs: 100, longestMs: 2000 } as const

/**
 * Sends the rows of this file until `signal` is aborted. If several processes use a file, one sends and one pulls;
 * the others wait.
 */
export function sendRows(settings: ShareSettings, signal: AbortSignal): Promise<void> {
  const { path, clock, shareDays, warn } = settings
  return run(settings, signal, {
    lock: `${path}.share-send.lock`,
    begin: async (local, shared) => {
      const outbox = new Outbox(local)
      const words = new SharedDictionary(shared)
      const storeId = await identifyStore(shared, outbox.state, clock.wallTime(), { shareDays, warn })
      const sides = { outbox, shared, words, storeId }
      const sendSome = rowSender(sides, warn)
      const sendHistory = historySender(sides)
      const syncFiles = sharedFiles(shared, outbox.state, path, warn)
      let historyMs = Number.NEGATIVE_INFINITY
      return async () => {
        const sent = await sendSome()
        if (clock.now() - historyMs >= historyEveryMs || signal.aborted) {
          historyMs = clock.now()
          await sendHistory()
          await syncFiles(clock.wallTime())
        }
        return sent > 0 ? 0 : pollEveryMs
      }
    },
  })
}

/**
 * Copies the rows of others into this file until `signal` is aborted, and updates the sums, because there may
 * be no running gateway.
 */
export async function pullRows(
  settings: ShareSettings,
  signal: AbortSignal,
  onProgress: (progress: PullProgress) => void = () => {},
): Promise<void> {
  const { path, clock, warn } = settings
  await run(settings, signal, {
    lock: `${path}.share-pull.lock`,
    beside: (local) =>
      updateSums(local, clock, (warning) => {
        if (warning !== null) warn(warning.message)
      }),
    begin: async (local, shared) => {
      const pullSome = rowPuller(shared, new Inbox(local), new SharedDictionary(shared), warn)
      return async () => {
        const progress = await pullSome()
        if (progress === null) return pollEveryMs
        onProgress(progress)
        return progress.pulled < progress.last ? 0 : pollEveryMs
      }
    },
  })
}

/** Runs a loop as the only process on this file, and connects again after each error. */
async function run(settings: ShareSettings, signal: AbortSignal, loop: Loop): Promise<void> {
  const { path, clock, warn } = settings
  const pause = (ms: number): Promise<void> => clock.delay(ms, signal).catch(() => undefined)
  let failures = 0
  let lastWarning = ''
  let lock: Disposable | null = null
  while (!signal.aborted) {
    let local: LocalDatabase | null = null
    let shared: SharedDatabase | null = null
    let endBeside = (): void => undefined
    try {
      lock ??= tryFileLock(loop.lock)
      if (lock === null) {
        await pause(lockEveryMs)
        continue
      }
      local = openForWriting(path)
      if (loop.beside !== undefined) endBeside = loop.beside(local)
      const key = fileKey(path)
      shared = await settings.connect()
      const step = await loop.begin(local, shared)
      // The gateway may move the file aside, and begin another one.
      while (!signal.aborted && fileKey(path) === key) {
        const waitMs = await step()
        if (lastWarning !== '') warn('the shared database answers again')
        failures = 0
        lastWarning = ''
        if (waitMs > 0) await pause(waitMs)
      }
      for (let steps = 0; signal.aborted && steps < lastSteps && (await step()) === 0;) steps++
    } catch (error) {
      const reason = messageOf(error)
      if (reason !== lastWarning) warn(`rows wait until the shared database can be used again: ${reason}`)
      lastWarning = reason
      await pause(backoffMs(retry, ++failures))
    } finally {
      endBeside()
      local?.close()
      shared?.close()
    }
  }
  lock?.[Symbol.dispose]()
}
