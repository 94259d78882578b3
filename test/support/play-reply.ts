import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReplyStep } from './reply-step.ts'
import type { ReplyEnd } from './seen-request.ts'

/**
 * Does the steps of a reply one after the other on a socket, waiting for the kernel to take each write.
 * `gone` is aborted when the connection is lost; the script then stops where it stands.
 */
export async function playReply(
  socket: Socket,
  steps: Iterable<ReplyStep> | AsyncIterable<ReplyStep>,
  gone: AbortSignal,
): Promise<ReplyEnd> {
  const lost = new Promise<void>((resolve) => {
    if (gone.aborted) resolve()
    else gone.addEventListener('abort', () => resolve(), { once: true })
  })
  for await (const step of steps) {
    if (gone.aborted) return 'client-left'
    switch (step.do) {
      case 'write':
        await writeOut(socket, step.bytes)
        break
      case 'wait':
        await delay(step.ms, undefined, { signal: gone }).catch(() => undefined)
        break
      case 'until':
        await Promise.race([lost, step.signal])
        break
      case 'cut':
        socket.end()
        return 'cut'
      case 'reset':
        socket.resetAndDestroy()
        return 'reset'
      case 'stall':
        await lost
        break
    }
  }
  return gone.aborted ? 'client-left' : 'complete'
}

/** Settles when the kernel has the bytes, or when the socket is destroyed with them unsent. */
function writeOut(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (bytes.length === 0) resolve()
    else socket.write(bytes, () => resolve())
  })
}
