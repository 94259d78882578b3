import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Waits until somebody listens on a port of loopback; gives up after twenty seconds or when the process ends. */
export async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 1000 && child.exitCode === null; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await delay(20)
  }
  throw new Error(`nothing listens on port ${port}`)
}
