import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Time limit for reading input of a client after its refusal, in ms. */
const lingerMs = 2000
const lingerBytes = 8 * 1024 * 1024

/**
 * Ends a connection whose client may still be sending. After a plain close the kernel would answer further
 * bytes with a reset, and the client would lose the response. So input is discarded until the client closes,
 * for at most two seconds and 8 MB.
 */
export function closeAfterReading(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  const limit = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(limit))
  // If Node's parser reads the connection, only Node can resume it after a pause.
  if (!socket.isPaused()) throwAway(socket)
  else socket.once('resume', () => throwAway(socket)).resume()
}

/** Detaches a connection from Node's parser, which must not find another request in the input. */
function throwAway(socket: Socket): void {
  let remainingBytes = lingerBytes
  socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    remainingBytes -= bytes.length
    if (remainingBytes <= 0) socket.pause()
  })
}

/** Lets the connection end as in {@link closeAfterReading} after an answer to an incomplete request. */
export function lingerAfter(res: ServerResponse): void {
  const { socket } = res
  if (socket === null) res.once('socket', () => lingerAfter(res))
  // Node calls this once the answer is written.
  else socket.destroySoon = () => closeAfterReading(socket)
}
