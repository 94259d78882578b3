import type { Socket } from 'node:net'

/**
 * Keeps a socket paused while `isResting` returns true. Node itself resumes a connection, to read a body, or
 * when an answer drains.
 */
export function keepPaused(socket: Socket, isResting: () => boolean): void {
  socket.on('resume', () => {
    if (isResting()) socket.pause()
  })
}
