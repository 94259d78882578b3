import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ConnectionPool, type PooledAttempt } from './connection-pool.ts'

const options = { connectTimeoutMs: 60_000, maxHeaderBytes: 1000, tunnel: null }

/** One call, as undici's verbs need it; resolves when it is over, with the error where it failed. */
function call(pool: ConnectionPool, headers: readonly string[] = []): Promise<Error | null> {
  return new Promise((resolve) => {
    let isOver = false
    const end = (error: Error | null): void => {
      isOver = true
      resolve(error)
    }
    const attempt: PooledAttempt = {
      connection: null,
      get isOver() {
        return isOver
      },
      onConnect: () => attempt.connection?.sending(),
      onHeaders: () => true,
      onData: () => true,
      onComplete: () => {
        attempt.connection?.answered(false)
        end(null)
      },
      onError: end,
    }
    pool.dispatch({ method: 'GET', path: '/', headers: [...headers] }, false, attempt)
  })
}

for (const [name, headers] of [
  ['announces', { connection: 'close' }],
  ['does not announce', {}],
] as const) {
  test(`500 calls at once to an upstream that closes each connection, which it ${name}, leave none in the pool`, async () => {
    const server = createServer((_req, res) => {
      res.writeHead(200, { ...headers, 'content-length': 0 }).end(() => res.socket?.end())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const pool = new ConnectionPool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options)
    const errors = await Promise.all(Array.from({ length: 500 }, () => call(pool)))
    assert.ok(errors.every((error) => error === null))
    await once(server.close(), 'close')
    // The server's end of the last connection is closed; ours follows in the turns after it.
    for (let turn = 0; turn < 100 && pool.size > 0; turn++) await new Promise(setImmediate)
    assert.equal(pool.size, 0)
    await pool.close()
  })
}

test('connections that cannot be opened, and requests that cannot be sent, leave nothing in the pool', async () => {
  const pool = new ConnectionPool('http://127.0.0.1:1', options)
  const errors = await Promise.all(Array.from({ length: 50 }, () => call(pool)))
  errors.push(await call(pool, ['x-broken', 'a\nb']))
  assert.ok(errors.every((error) => error !== null))
  await new Promise(setImmediate)
  assert.equal(pool.size, 0)
  await pool.close()
})
