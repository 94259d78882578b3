import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { codeOf } from '../../src/lib/errors.ts'

/**
 * A port that nobody listens on at this moment. It lies below those that systems give to whoever asks for any (from
 * 32768 on Linux, 49152 elsewhere), so that no other test is given it before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if (codeOf(error) === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
