/** The entry of the process that keeps a file and the shared database in step. Its parent is a `ShareProcess`. */
import { systemClock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { ShareState } from '../../store/share/share-state.ts'
import { openForReading } from '../../store/sqlite/open-store.ts'
import { connectRows } from './row-connection.ts'
import type { PullProgress } from './row-puller.ts'
import { isClose, isShareTask, type ShareStatus } from './share-messages.ts'
import { pullRows, sendRows } from './share-loops.ts'

const reportEveryMs = 500
/** Rows that wait for longer, or more of them, are reported. */
const behindMs = 3000
const behindRows = 20_000

const task = readMessage(process.argv[2] ?? '', isShareTask)
const url = process.env['TOKENWEIR_SHARE'] ?? ''
if (task === null || process.send === undefined) {
  throw new Error('share-worker runs only as the child of a ShareProcess')
}
const { path, pulls, days } = task
// Nothing that this process starts, and no report of it, needs to hold the password.
delete process.env['TOKENWEIR_SHARE']
const ending = new AbortController()
let pull: PullProgress | null = null
let moved = { passedSeq: -1, atMs: 0 }

// A terminal's Ctrl-C, and others' signals, go to the whole group: the parent decides when this process ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => ending.abort())
process.on('message', (message: unknown) => {
  if (isClose(message)) ending.abort()
})
lowerPriority(process.pid)

const warn = (line: string): void => send({ ...waiting(), pull, line })
const settings = {
  path,
  connect: () => connectRows(url),
  shareDays: days === 0 ? null : days,
  clock: systemClock,
  warn,
}
const roles = [sendRows(settings, ending.signal)]
if (pulls) roles.push(pullRows(settings, ending.signal, (progress) => (pull = progress)))
reportWaiting()
await Promise.allSettled(roles)
process.exit(0)

function reportWaiting(): void {
  send({ ...waiting(), pull, line: null })
  if (!ending.signal.aborted) systemClock.after(reportEveryMs, reportWaiting, { background: true })
}

/** The rows of the file that wait to be sent, by any process. */
function waiting(): Pick<ShareStatus, 'behind'> {
  const opened = openForReading(path)
  if (typeof opened === 'string') return { behind: null }
  using database = opened
  const state = new ShareState(database)
  const { rows, sinceMs } = state.waiting()
  const passedSeq = state.cursors()?.passed_seq ?? 0
  const now = systemClock.now()
  if (rows === 0 || passedSeq !== moved.passedSeq) moved = { passedSeq, atMs: now }
  const isBehind = rows > behindRows || (rows > 0 && now - moved.atMs > behindMs)
  return {
    behind: isBehind ? { rows, sinceMs: sinceMs ?? systemClock.wallTime() } : null,
  }
}

/** If the parent has gone meanwhile, this process ends as well. */
function send(status: ShareStatus): void {
  process.send?.(status, undefined, undefined, () => {})
}
