import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createServer as createHttp } from 'node:http'
import { listenOnLoopback } from '../../src/lib/http/http.ts'
import { httpReceiver } from '../../src/traces/span-receiver.ts'
import { freePort } from '../support/free-port.ts'

const never = new AbortController().signal
const body = Buffer.from('all spans')

/** A server that does with each connection, once a request has begun, as told. */
async function rawServer(answer: (socket: Socket, index: number) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    const index = sockets.length - 1
    socket.on('error', () => {})
    socket.on('data', () => answer(socket, index))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a request has the headers that were asked for, its length, and the spans as its body', async () => {
  let seen: unknown = null
  await using server = await listenOnLoopback(
    createHttp((req, res) => {
      let read = ''
      req.setEncoding('utf8').on('data', (piece: string) => (read += piece))
      req.on('end', () => {
        const { 'api-key': key, 'content-type': type, 'content-length': length } = req.headers
        seen = { method: req.method, path: req.url, key, type, length, body: read }
        res.writeHead(429, { 'Retry-After': '3' }).end('slow down')
      })
    }),
  )
  const receiver = httpReceiver(
    { url: `${server.origin}/in/here`, headers: { 'api-key': 'k' }, isGzip: false },
    {},
  )
  const { status, retryAfter, body: answer } = await receiver.post(body, never)
  assert.deepEqual([status, retryAfter, answer.toString()], [429, '3', 'slow down'])
  const sent = { key: 'k', type: 'application/json', length: '9', body: 'all spans' }
  assert.deepEqual(seen, { method: 'POST', path: '/in/here', ...sent })
  receiver.close()
})

test('a body is compressed if that is asked for', async () => {
  let seen: unknown = null
  await using server = await listenOnLoopback(
    createHttp((req, res) => {
      const pieces: Buffer[] = []
      req.on('data', (piece: Buffer) => pieces.push(piece))
      req.on('end', () => {
        const { 'content-encoding': coding, 'content-length': length } = req.headers
        const read = Buffer.concat(pieces)
        seen = { coding, body: gunzipSync(read).toString(), isWhole: Number(length) === read.length }
        res.end()
      })
    }),
  )
  const receiver = httpReceiver({ url: server.origin, headers: {}, isGzip: true }, {})
  await receiver.post(body, never)
  assert.deepEqual(seen, { coding: 'gzip', body: 'all spans', isWhole: true })
  receiver.close()
})

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
const late = /did not answer within 0\.2 s/
const bad = [
  ['hangs', () => {}, late],
  ['begins and hangs', (socket: Socket) => socket.write(head), late],
  ['drips', (socket: Socket) => drip(socket), late],
  ['resets', (socket: Socket) => socket.resetAndDestroy(), /ECONNRESET|socket hang up/],
  ['closes', (socket: Socket) => socket.destroy(), /ECONNRESET|socket hang up/],
  ['breaks off', (socket: Socket) => socket.end(`${head}{`), /aborted/],
  ['talks nonsense', (socket: Socket) => socket.end('hello\r\n\r\n'), /Parse Error/],
] as const

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20)
  socket.on('close', () => clearInterval(timer))
}

for (const [what, answer, reason] of bad) {
  test(`a receiver that ${what} is told from one that answers`, async () => {
    await using server = await rawServer(answer)
    // Who does not hang has all the time of a machine that stands still.
    const limitMs = reason === late ? 200 : 20_000
    const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {}, limitMs)
    await assert.rejects(receiver.post(body, never), reason)
    receiver.close()
  })
}

test('nobody who listens is an error with a name', async () => {
  const url = `http://127.0.0.1:${await freePort()}/v1/traces`
  const receiver = httpReceiver({ url, headers: {}, isGzip: false }, {})
  await assert.rejects(receiver.post(body, never), /ECONNREFUSED/)
  receiver.close()
})

test('of an endless answer its beginning is read', async () => {
  await using server = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const piece = `ffff\r\n${'x'.repeat(0xff_ff)}\r\n`
    const more = (): void => void (socket.writable && socket.write(piece, more))
    more()
  })
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  const { status, body: answer } = await receiver.post(body, never)
  assert.equal(status, 200)
  assert.ok(answer.length >= 64 * 1024 && answer.length < 2 ** 20)
  receiver.close()
})

test('a kept connection that died meanwhile is replaced, and nobody is told', async () => {
  await using server = await rawServer((socket, index) => {
    // The first answer stands; the second request finds the connection dead.
    if (index === 0 && socket.bytesWritten > 0) socket.resetAndDestroy()
    else socket.write(`${head}ok`)
  })
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  for (let i = 0; i < 2; i++) {
    const answer = await receiver.post(body, never)
    assert.equal(answer.body.toString(), 'ok')
  }
  assert.equal(server.sockets.length, 2)
  receiver.close()
})

test('whoever waits no longer is not waited for', async () => {
  await using server = await rawServer(() => {})
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  const over = new AbortController()
  const posted = receiver.post(body, over.signal)
  over.abort()
  await assert.rejects(posted, /abort/)
  receiver.close()
})

test('another machine is reached through the proxy of the environment, this one is not', async () => {
  const targets: string[] = []
  await using proxy = await listenOnLoopback(
    createHttp((req, res) => {
      targets.push(req.url ?? '')
      req.resume().on('end', () => res.end())
    }),
  )
  await using direct = await rawServer((socket) => socket.write(`${head}ok`))
  const env = { HTTP_PROXY: proxy.origin, http_proxy: proxy.origin }
  for (const url of ['http://receiver.invalid/v1/traces', direct.url]) {
    const receiver = httpReceiver({ url, headers: {}, isGzip: false }, env)
    assert.equal((await receiver.post(body, never)).status, 200)
    receiver.close()
  }
  assert.deepEqual(targets, ['http://receiver.invalid/v1/traces'])
})
