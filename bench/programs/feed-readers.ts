/** Readers of the live feed of payloads, in a process of the lowest priority: they stand for other machines. */
import { type Socket, connect } from 'node:net'
import { setPriority } from 'node:os'
import type { FeedReadersCommand, FeedReadersReport } from './program-messages.ts'

const shared = Buffer.alloc(1024 * 1024)
let sockets: Socket[] = []
let readBytes = 0

setPriority(19)

function open(port: number, reads: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const onread = {
      buffer: shared,
      callback: (length: number): boolean => {
        readBytes += length
        resolve()
        return true
      },
    }
    const socket = reads ? connect({ port, host: '127.0.0.1', onread }) : connect({ port, host: '127.0.0.1' })
    socket.on('error', reject)
    socket.on('connect', () => {
      socket.write(`GET /v1/raw-log/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
      if (reads) return
      socket.pause()
      resolve()
    })
    sockets.push(socket)
  })
}

process.on('message', (command: FeedReadersCommand) => {
  if (command.do === 'open') {
    const { port, readers, stuck } = command
    void Promise.all(Array.from({ length: readers }, (_, i) => open(port, i >= stuck))).then(() =>
      report({ opened: readers }),
    )
  } else {
    for (const socket of sockets) socket.destroy()
    sockets = []
    report({ readBytes })
    readBytes = 0
  }
})
process.on('disconnect', () => process.exit())

function report(message: FeedReadersReport): void {
  process.send?.(message)
}
