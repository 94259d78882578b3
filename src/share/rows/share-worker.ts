/** The entry of the process that keeps a file and the shared database in sync. A `ShareProcess` starts it. */
import { systemClock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { waitingIn } from '../../store/share/share-state.ts'
import { connectRows } from './row-connection.ts'
import type { PullProgress } from './row-puller.ts'
import { isShareTask, type ShareStatus } from './share-messages.ts'
import { pullRows, sendRows } from './share-loops.ts'

const reportEveryMs = 500
/** Waiting rows are reported after this time, or from `behindRows` rows on. */
const behindMs = 3000
const behindRows = 20_000

const task = readMessage(process.argv[2] ?? '', isShareTask)
const url = process.env['TOKENWEIR_SHARE'] ?? ''
if (task === null || process.send === undefined) {
  throw new Error('share-worker runs only as the child of a ShareProcess')
}
const { path, pulls, days } = task
// Removed, so that no child process and no report has the password.
delete process.env['TOKENWEIR_SHARE']
const ending = new AbortController()
let pull: PullProgress | null = null
let moved: { readonly passedSeq: number | null; readonly atMs: number } = { passedSeq: -1, atMs: 0 }

// Ctrl-C and other signals may go to the whole process group, but only the end of the channel to the parent
// ends this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => ending.abort())
if (!process.connected) ending.abort()
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

/** The rows of the file that wait to be sent. */
function waiting(): Pick<ShareStatus, 'behind'> {
  const { rows, sinceMs, passedSeq } = waitingIn(path) ?? { rows: 0, sinceMs: null, passedSeq: null }
  const now = systemClock.now()
  if (rows === 0 || passedSeq !== moved.passedSeq) moved = { passedSeq, atMs: now }
  const isBehind = rows > behindRows || (rows > 0 && now - moved.atMs > behindMs)
  return {
    behind: isBehind ? { rows, sinceMs: sinceMs ?? systemClock.wallTime() } : null,
  }
}

/** Sends a status. An ended parent is ignored, because this process then ends as well. */
function send(status: ShareStatus): void {
  process.send?.(status, undefined, undefined, () => {})
}
