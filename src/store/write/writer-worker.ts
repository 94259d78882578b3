/** The entry of the writer's thread, which a `WriterThread` starts. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../call/clock.ts'
import { StoreWriter } from './store-writer.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'

const port = parentPort
if (port === null) throw new Error('writer-worker runs only as the thread of a WriterThread')

const settings: WriterSettings = workerData
const writer = new StoreWriter(settings, systemClock, (message: FromWriter) => {
  port.postMessage(message)
  if (message.kind === 'closed') port.close()
})
// Messages wait until there is a listener.
await writer.start()
port.on('message', (message: ToWriter) => writer.handle(message))
