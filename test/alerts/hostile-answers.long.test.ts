/** What a price provider, and a receiver of alerts or spans, can do to us by its answers: nothing without an end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { tryAlert } from '../../src/alerts/send-alert.ts'
import { fetchPriceList } from '../../src/pricing/fetch-price-list.ts'
import { httpReceiver } from '../../src/traces/span-receiver.ts'
import { eventually } from '../support/eventually.ts'
import { fastClock } from '../support/fast-clock.ts'
import { sampleMessage } from './alert-receiver.ts'

const limitMs = 1000
/** What the limit of an alert, ten seconds, is divided by. */
const clockFactor = 10
/** More than a machine that is busy takes beyond the limit. */
const mostMs = 20_000
const mostGrowthBytes = 200 * 2 ** 20

const filler = Buffer.alloc(64 * 1024, 'x')
const zeros = Buffer.alloc(64 * 1024, '0')
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20))

interface Hostile {
  readonly start: string
  /** What follows for ever; null for silence. */
  readonly piece: Buffer | null
}

const hostile: Readonly<Record<string, Hostile>> = {
  'says nothing': { start: '', piece: null },
  'has a reason phrase without an end': { start: 'HTTP/1.1 200 ', piece: filler },
  'has a header without an end': { start: 'HTTP/1.1 200 OK\r\nX: ', piece: filler },
  'sends 103 for ever': {
    start: '',
    piece: Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'.repeat(99)),
  },
  'sends 100 for ever': { start: '', piece: Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(99)) },
  'has a body without an end': { start: 'HTTP/1.1 200 OK\r\n\r\n', piece: filler },
  'refuses without an end': { start: 'HTTP/1.1 500 No\r\n\r\n', piece: filler },
  'has an extension without an end': { start: `${chunked}5;`, piece: filler },
  'has a chunk size without an end': { start: chunked, piece: zeros },
  'stops in the middle': { start: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{', piece: null },
  'refuses, and stops in the middle': {
    start: 'HTTP/1.1 400 No\r\nContent-Length: 100\r\n\r\n{',
    piece: null,
  },
  'is a bomb': {
    start: `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n${bomb.toString('latin1')}`,
    piece: null,
  },
}

const sockets = new Set<Socket>()
const servers = new Set<Server>()
after(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
})

/** A server that answers so; its origin. */
async function serve({ start, piece }: Hostile): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => {
      socket.write(start, 'latin1')
      const more = (): void => void (socket.writable && piece !== null && socket.write(piece, more))
      more()
    })
  })
  servers.add(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function askForPrices(origin: string): Promise<unknown> {
  return fetchPriceList(`${origin}/list`, null, { timeoutMs: limitMs, maxBytes: 1_000_000, maxRedirects: 3 })
}

function sendAnAlert(origin: string) {
  const receiver = { url: `${origin}/hook`, format: 'json', secret: null, fixedBy: null } as const
  return tryAlert(receiver, sampleMessage, fastClock(clockFactor), new AbortController().signal)
}

async function sendSpans(origin: string) {
  const receiver = httpReceiver({ url: `${origin}/v1/traces`, headers: {}, isGzip: false }, {}, limitMs)
  try {
    return await receiver.post(Buffer.from('spans'), new AbortController().signal)
  } finally {
    receiver.close()
  }
}

test(`${Object.keys(hostile).length} kinds of answers without an end are left in time, with no memory taken`, async () => {
  const before = process.memoryUsage.rss()
  const late: string[] = []
  await Promise.all(
    Object.entries(hostile).map(async ([what, answer]) => {
      const origin = await serve(answer)
      for (const ask of [askForPrices, sendAnAlert, sendSpans]) {
        const startMs = performance.now()
        await ask(origin).catch(() => undefined)
        if (performance.now() - startMs > mostMs) late.push(`${ask.name}: ${what}`)
      }
    }),
  )
  assert.deepEqual(late, [])
  await eventually('all connections are closed', () => sockets.size === 0)
  const growth = process.memoryUsage.rss() - before
  assert.ok(growth < mostGrowthBytes, `${growth}`)
})

test('a redirect to another address is not followed, by none of them', async () => {
  let asked = 0
  const other = createServer((socket) => {
    asked++
    socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
  })
  servers.add(other)
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  for (const status of [301, 302, 303, 307, 308]) {
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      const head = ['Connection: close', 'Content-Length: 0', `Location: http://${host}:${port}/`]
      const start = `HTTP/1.1 ${status} Go\r\n${head.join('\r\n')}\r\n\r\n`
      const origin = await serve({ start, piece: null })
      await assert.rejects(askForPrices(origin), /leads to .* is not followed/)
      assert.match((await sendAnAlert(origin)).detail, /redirects are not followed/)
      assert.equal((await sendSpans(origin)).status, status)
    }
  }
  assert.equal(asked, 0)
})
