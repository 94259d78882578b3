/** The entry of the payload log's thread. Its parent is a `PayloadLog`. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../call/clock.ts'
import type { FromPayloadWorker, PayloadSettings, ToPayloadWorker } from './payload-messages.ts'
import { PayloadWriter } from './payload-writer.ts'

const port = parentPort
if (port === null) throw new Error('payload-worker runs only as the thread of a PayloadLog')

const settings: PayloadSettings = workerData
const writer = new PayloadWriter(
  settings,
  () => systemClock.wallTime(),
  (message: FromPayloadWorker, transfer) => {
    port.postMessage(message, transfer)
    if (message.kind === 'closed') port.close()
  },
)
port.on('message', (message: ToPayloadWorker) => writer.handle(message))
