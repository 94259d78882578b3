import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long, and for how many bytes, a client is read that sends on after it was refused. */
const lingerMs = 2000
const lingerBytes = 8 * 1024 * 1024

/**
 * Ends a connection whose client may still be sending. Closed at once, the kernel would answer the next bytes with a reset,
 * and the client would lose the answer. What comes is thrown away until the client closes, for two seconds at most; beyond
 * 8 MB it is not read any more.
 */
export function closeAfterReading(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  const limit = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(limit))
  // Node alone, as long as its parser reads the connection, can make a paused one go on.
  if (!socket.isPaused()) throwAway(socket)
  else socket.once('resume', () => throwAway(socket)).resume()
}

/** Takes a connection from Node's parser, which must not find another request in what comes. */
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
