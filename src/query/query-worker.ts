/** The entry of the query process. Its parent is a `QueryProcess`, and it ends with it. */
import { lowerPriority } from '../lib/process/lower-priority.ts'
import { QueryService } from './query-service.ts'
import { type FromQuery, isToQuery } from './query-messages.ts'
import { reportFault } from '../lib/fault.ts'

const [, , path] = process.argv
if (path === undefined || process.send === undefined) {
  throw new Error('query-worker runs only as the child of a QueryProcess')
}
const service = new QueryService(path, () => performance.now())

// A terminal's Ctrl-C, and others' signals, go to the whole group: the parent decides when this process ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => {
  service.close()
  process.exit(0)
})
process.on('message', (question: unknown) => {
  if (isToQuery(question)) service.answer(question).then(send).catch(reportFault)
})

// Calls go before questions about them; but not before its start, which would then take many seconds where models
// keep every processor busy.
lowerPriority(process.pid)
send({ kind: 'ready' })

/** Ignores a parent that has gone: this process then ends as well. */
function send(message: FromQuery): void {
  process.send?.(message, undefined, undefined, () => {})
}
