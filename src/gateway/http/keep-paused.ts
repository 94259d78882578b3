import type { Socket } from 'node:net'

/** Keeps a socket paused while it is to rest. Node resumes a connection by itself: to read a body, or when an answer drains. */
export function keepPaused(socket: Socket, isResting: () => boolean): void {
  socket.on('resume', () => {
    if (isResting()) socket.pause()
  })
}
