/** A crowd of clients, or the upstream before which they stand, in a thread of its own: who watches must not wait for it. */
import { type Socket, connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { requestBytes } from '../support/exchange.ts'
import { bodyReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { steadyReply } from './steady-load.ts'

/** What such a thread is to be. */
export type CrowdTask =
  | { readonly role: 'upstream'; readonly largeBytes: number }
  | { readonly role: 'stalled'; readonly port: number; readonly clients: number }
  | { readonly role: 'slow'; readonly port: number; readonly clients: number; readonly byteEveryMs: number }

const path = '/v1/chat/completions'
const largeCall = requestBytes('POST', `${path}?large`, { body: '{"model":"m","stream":true}' })
/** Those that stop in their head, in their body, and in the reading of the answer. */
const beginnings = [
  `POST ${path} HTTP/1.1\r\nHost: a\r\nX-`,
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{`,
  largeCall,
] as const

/** An answer of about so many bytes. */
function embeddings(byteLength: number): string {
  const number = '0.0123456789,'
  const vector = `[${number.repeat(Math.floor(byteLength / number.length))}0]`
  const usage = '{"prompt_tokens":1,"total_tokens":1}'
  return `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${vector}}],"usage":${usage}}`
}

const task = workerData as CrowdTask
if (task.role === 'upstream') {
  const large = bodyReply([embeddings(task.largeBytes)], { headers: [['Content-Type', 'application/json']] })
  const upstream = await startSimulatedUpstream({
    reply: (seen) => (seen.target.includes('large') ? large : steadyReply(seen)),
  })
  parentPort?.postMessage(upstream.baseUrl)
} else {
  const { port, clients } = task
  const isReading = (index: number): boolean => task.role === 'slow' && index % 3 !== 2
  const sockets = Array.from({ length: clients }, (_, index): Socket => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(isReading(index) ? (beginnings[index % 3] ?? largeCall) : largeCall)
    return isReading(index) ? socket.resume() : socket.pause()
  })
  if (task.role === 'slow') {
    setInterval(() => {
      for (const [index, socket] of sockets.entries()) {
        if (!isReading(index)) socket.read(1)
        else if (socket.writable) socket.write('a')
      }
    }, task.byteEveryMs)
  }
  parentPort?.postMessage('all called')
}
