/** Loaded into every thread of a gateway: the writer's stands still for four seconds whenever it is asked something. */
import { isMainThread, parentPort } from 'node:worker_threads'

if (!isMainThread) {
  parentPort?.on('message', (message: { readonly kind?: string }) => {
    if (message.kind === 'ask') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000)
  })
}
