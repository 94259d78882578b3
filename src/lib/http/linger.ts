import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Limits for reading a client that still sends after its refusal. */
const lingerMs = 2000
const lingerBytes = 8 * 1024 * 1024

/**
 * Ends a connection whose client may still be sending. After a plain close the kernel would answer further bytes with a reset,
 * and the client would lose the response. Instead, input is discarded until the client closes, for two seconds at most;
 * beyond 8 MB it is no longer read.
 */
export function closeAfterReading(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  const limit = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(limit))
  // While Node's parser reads the connection, only Node can resume a paused one.
  if (!socket.isPaused()) throwAway(socket)
  else socket.once('resume', () => throwAway(socket)).resume()
}

/** Detaches a connection from Node's parser, which must not find another request in the input. */
function throwAway(socket: Socket): void {
  let left = lingerBytes
  socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    left -= bytes.length
    if (left <= 0) socket.pause()
  })
}

/** Has the connection of an answer that ends it, because a body is still coming, end in this way. */
export function lingerAfter(res: ServerResponse): void {
  const { socket } = res
  if (socket === null) res.once('socket', () => lingerAfter(res))
  // Node calls this once the answer is written.
  else socket.destroySoon = () => closeAfterReading(socket)
}
