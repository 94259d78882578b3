import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TransportAttempt } from './transport.ts'
import { UndiciTransport } from './undici-transport.ts'

const options = {
  connectTimeoutMs: 60_000,
  maxHeaderBytes: 1000,
  firstByteTimeoutMs: 0,
  idleTimeoutMs: 0,
  connectRetryMs: 0,
  proxy: null,
}

/** Makes a call, as undici's verbs need it; resolves when it is over, with the error where it failed. */
function call(transport: UndiciTransport, headers: readonly string[] = []): Promise<Error | null> {
  return new Promise((resolve) => {
    let isOver = false
    const end = (error: Error | null): void => {
      isOver = true
      resolve(error)
    }
    const attempt: TransportAttempt = {
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
    const request = { method: 'GET', path: '/', headers, body: null, bodyBytes: 0, freshConnection: false }
    transport.send(request, attempt)
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
    const { port } = server.address() as AddressInfo
    const transport = new UndiciTransport(`http://127.0.0.1:${port}`, options)
    const errors = await Promise.all(Array.from({ length: 500 }, () => call(transport)))
    assert.ok(errors.every((error) => error === null))
    await once(server.close(), 'close')
    // The server's end of the last connection is closed; ours follows in the turns after it.
    for (let turn = 0; turn < 100 && transport.connections > 0; turn++) await new Promise(setImmediate)
    assert.equal(transport.connections, 0)
    await transport.close()
  })
}

test('connections that cannot be opened, and requests that cannot be sent, leave nothing in the pool', async () => {
  const transport = new UndiciTransport('http://127.0.0.1:1', options)
  const errors = await Promise.all(Array.from({ length: 50 }, () => call(transport)))
  errors.push(await call(transport, ['x-broken', 'a\nb']))
  assert.ok(errors.every((error) => error !== null))
  await new Promise(setImmediate)
  assert.equal(transport.connections, 0)
  await transport.close()
})
