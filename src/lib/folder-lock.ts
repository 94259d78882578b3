import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 10

/**
 * Lets one holder at a time, of all processes and of this one, do something in a folder. It is a socket in Linux's
 * abstract namespace (unix(7)), which the kernel frees whatever becomes of its holder; other systems have none, and
 * there it locks nothing. Null where another held it until `limitMs` were over; rejects with the system's error.
 */
export async function takeFolderLock(
  folder: string,
  purpose: string,
  limitMs: number,
): Promise<Disposable | null> {
  if (process.platform !== 'linux') return { [Symbol.dispose]: () => {} }
  const { dev, ino } = statSync(folder, { bigint: true })
  const deadline = performance.now() + limitMs
  for (;;) {
    const lock = createServer().listen({ path: `\0tokenweir-${purpose}-${dev}-${ino}` })
    try {
      await once(lock, 'listening')
      return { [Symbol.dispose]: () => void lock.close() }
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!isTaken) throw error
      if (performance.now() > deadline) return null
    }
    await sleep(retryMs)
  }
}
