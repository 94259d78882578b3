/** The entry of the query process, which a `QueryProcess` starts, and which ends with its parent. */
import { lowerPriority } from '../lib/process/lower-priority.ts'
import { QueryService } from './query-service.ts'
import type { FromQuery, ToQuery } from './query-messages.ts'
import { reportFault } from '../lib/fault.ts'

const [, , path] = process.argv
if (path === undefined || process.send === undefined) {
  throw new Error('query-worker runs only as the child of a QueryProcess')
}
const service = new QueryService(path, () => performance.now())

// Ctrl-C and other signals may go to the whole process group, but only the parent decides when this process
// ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => {
  service.close()
  process.exit(0)
})
process.on('message', (question: ToQuery) => void service.answer(question).then(send).catch(reportFault))

// Calls have priority over questions. The priority is lowered only after the start, which would otherwise
// take many seconds while models keep every processor busy.
lowerPriority(process.pid)
send({ kind: 'ready' })

/** Sends a message. An ended parent is ignored, because this process then ends as well. */
function send(message: FromQuery): void {
  process.send?.(message, undefined, undefined, () => {})
}
