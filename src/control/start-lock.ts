import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 10

/**
 * Lets one process at a time go through the taking of a folder's control socket. It is a socket in Linux's
 * abstract namespace (unix(7)), which the kernel frees whatever becomes of its holder. Other systems have
 * none: there, the port alone keeps two gateways apart that start in the same moment. Rejects in words.
 */
export async function takeStartLock(folder: string, limitMs: number): Promise<Disposable> {
  if (process.platform !== 'linux') return { [Symbol.dispose]: () => {} }
  const { dev, ino } = statSync(folder, { bigint: true })
  const deadline = performance.now() + limitMs
  for (;;) {
    const lock = createServer().listen({ path: `\0tokenweir-start-${dev}-${ino}` })
    try {
      await once(lock, 'listening')
      return { [Symbol.dispose]: () => void lock.close() }
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!isTaken) throw error
      if (performance.now() > deadline)
        throw new Error('another gateway has been starting in this folder', { cause: error })
    }
    await sleep(retryMs)
  }
}
