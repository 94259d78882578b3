/** Receivers of every kind: what is sent, how often, and what is said of the answer. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { test } from 'node:test'
import OpenAI from 'openai'
import type { AlertMessage } from '../../src/api/alerts.ts'
import { type Clock, systemClock } from '../../src/call/clock.ts'
import type { AlertReceiver } from '../../src/alerts/alert-request.ts'
import { sendAlert, tryAlert } from '../../src/alerts/send-alert.ts'
import { freePort } from '../support/free-port.ts'
import { startReceiver } from './alert-receiver.ts'

const secretPath = '/services/T0AAAAAAA/B0BBBBBBB/dGhlIHNlY3JldA'

const message: AlertMessage = {
  id: 'msg_1',
  at: '2026-11-22T10:00:00.000Z',
  kind: 'begins',
  rule: 'velocity',
  subject: 'run <!channel> @everyone **x** &',
  title: 'Runaway session or client',
  text: 'This session uses 1,200,000 tokens a minute, over 5 minutes.',
  since: '2026-11-22T10:00:00.000Z',
  state: 'pending',
  detail: null,
}

interface HastyClock {
  readonly clock: Clock
  readonly waits: readonly number[]
  /** Lets the time of what is limited be over. */
  passLimits(): void
}

/** A clock whose waits between tries take no time and are noted; limits pass when the test says so. */
function hastyClock(): HastyClock {
  const waits: number[] = []
  const limits = new Set<() => void>()
  const clock: Clock = {
    ...systemClock,
    after: (_, callback) => {
      limits.add(callback)
      return () => limits.delete(callback)
    },
    delay: async (ms, signal) => {
      signal?.throwIfAborted()
      waits.push(ms)
    },
  }
  const passLimits = (): void => {
    for (const callback of limits) callback()
  }
  return { clock, waits, passLimits }
}

function receiverAt(origin: string, change: Partial<AlertReceiver> = {}): AlertReceiver {
  return { url: `${origin}${secretPath}`, format: 'json', secret: null, fixedBy: null, ...change }
}

const open = new AbortController().signal

/** The answer of each try, and what comes of it. */
const cases: readonly {
  readonly what: string
  readonly answer: (response: ServerResponse, index: number) => void
  readonly tries: number
  readonly detail: string
  readonly waits?: readonly number[]
  /** When the time for an answer is over: as soon as the message has come, or the head of its answer. */
  readonly overAt?: 'message' | 'head'
}[] = [
  { what: 'takes it', answer: (response) => response.end('ok'), tries: 1, detail: '200 OK' },
  {
    what: 'answers garbage with 200',
    answer: (response) => response.end(Buffer.from([0, 255, 1, 254])),
    tries: 1,
    detail: '200 OK',
  },
  {
    what: 'takes it and lets its answer trickle without end',
    answer: (response) => void response.writeHead(200).write('.'),
    tries: 1,
    detail: '200 OK',
  },
  {
    what: 'fails once',
    answer: (response, index) => response.writeHead(index === 0 ? 503 : 204).end(),
    tries: 2,
    detail: '204 No Content',
    waits: [10_000],
  },
  {
    what: 'fails always',
    answer: (response) => response.writeHead(500).end('internal_error'),
    tries: 3,
    detail: '500 Internal Server Error: internal_error',
    waits: [10_000, 60_000],
  },
  {
    what: 'asks to wait, in bounds and beyond',
    answer: (response, index) =>
      response.writeHead(429, { 'retry-after': index === 0 ? '30' : '86400' }).end('rate_limited'),
    tries: 3,
    detail: '429 Too Many Requests: rate_limited',
    waits: [30_000, 300_000],
  },
  {
    what: 'asks to wait until a time that was',
    answer: (response, index) =>
      response.writeHead(index === 0 ? 429 : 200, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }).end(),
    tries: 2,
    detail: '200 OK',
    waits: [10_000],
  },
  {
    what: 'refuses for good, with a word',
    answer: (response) => response.writeHead(403).end('invalid_token'),
    tries: 1,
    detail: '403 Forbidden: invalid_token',
  },
  {
    what: 'refuses with a page that repeats the address',
    answer: (response) => response.writeHead(404).end(`<html>Cannot POST ${secretPath}</html>`),
    tries: 1,
    detail: '404 Not Found',
  },
  {
    what: 'refuses with a word of the address',
    answer: (response) => response.writeHead(404).end('no hook B0BBBBBBB here'),
    tries: 1,
    detail: '404 Not Found',
  },
  {
    what: 'sends elsewhere',
    answer: (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
    tries: 1,
    detail: '302 Found: redirects are not followed',
  },
  {
    what: 'never answers',
    answer: () => undefined,
    tries: 3,
    detail: 'no answer within 10 s',
    waits: [10_000, 60_000],
    overAt: 'message',
  },
  {
    what: 'refuses, and lets the reason trickle without end',
    answer: (response) => void response.writeHead(400).write('a'),
    tries: 1,
    detail: '400 Bad Request',
    overAt: 'head',
  },
  {
    what: 'breaks off',
    answer: (response) => response.destroy(),
    tries: 3,
    detail: 'no answer: UND_ERR_SOCKET',
    waits: [10_000, 60_000],
  },
]

for (const { what, answer, tries, detail, waits = [], overAt } of cases) {
  test(`a receiver that ${what}`, async (context) => {
    const hasty = hastyClock()
    await using receiver = await startReceiver((response, index) => {
      answer(response, index)
      if (overAt === 'message') hasty.passLimits()
    })
    if (overAt === 'head') {
      const { fetch } = globalThis
      context.mock.method(globalThis, 'fetch', async (...args: Parameters<typeof fetch>) => {
        const head = await fetch(...args)
        setImmediate(() => hasty.passLimits())
        return head
      })
    }
    const sent = await sendAlert(receiverAt(receiver.origin), message, hasty.clock, open)
    assert.equal(sent.detail, detail)
    assert.equal(sent.isDelivered, detail.startsWith('2'))
    assert.deepEqual([receiver.received.length, hasty.waits], [tries, waits])
    assert.deepEqual(
      new Set(receiver.received.map(({ headers }) => headers['webhook-id'])),
      new Set(['msg_1']),
    )
  })
}

test('nobody there, and one that speaks no HTTP', async () => {
  const port = await freePort()
  const { clock, waits } = hastyClock()
  const receiver = receiverAt(`http://127.0.0.1:${port}`)
  assert.equal((await sendAlert(receiver, message, clock, open)).detail, 'no answer: ECONNREFUSED')
  assert.deepEqual(waits, [10_000, 60_000])
  const mute = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n')).listen(
    0,
    '127.0.0.1',
  )
  try {
    await new Promise((resolve) => mute.once('listening', resolve))
    const address = mute.address()
    assert.ok(typeof address === 'object' && address !== null)
    const told = await sendAlert(receiverAt(`http://127.0.0.1:${address.port}`), message, clock, open)
    assert.match(told.detail, /^no answer: (?:[A-Z_]+|the connection broke)$/)
  } finally {
    mute.close()
  }
})

test('who is told to stop waits for nothing', async () => {
  await using receiver = await startReceiver(() => undefined)
  const closing = new AbortController()
  const sending = sendAlert(receiverAt(receiver.origin), message, systemClock, closing.signal)
  await receiver.waitFor(1)
  closing.abort()
  await assert.rejects(sending, { name: 'AbortError' })
})

for (const secret of ['plain text', `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`]) {
  test(`what is signed with ${secret.slice(0, 6)}… is verified by a library of others`, async () => {
    await using receiver = await startReceiver()
    await sendAlert(receiverAt(receiver.origin, { secret }), message, systemClock, open)
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]]
    const { webhooks } = new OpenAI({ apiKey: 'unused' })
    // It takes a secret for base64 if it can be.
    const asBase64 = secret.startsWith('whsec_') ? secret : `whsec_${Buffer.from(secret).toString('base64')}`
    const given = headers as Record<string, string>
    await webhooks.verifySignature(body, given, asBase64)
    await assert.rejects(webhooks.verifySignature(`${body} `, given, asBase64))
    await assert.rejects(
      webhooks.verifySignature(body, { ...given, 'webhook-timestamp': '1795000000' }, asBase64),
    )
    assert.deepEqual(JSON.parse(body).type, 'alert.begins')
  })
}

test('in each format a name of a client stays a name', async () => {
  await using receiver = await startReceiver()
  for (const format of ['json', 'slack', 'discord', 'ntfy'] as const) {
    await sendAlert(receiverAt(receiver.origin, { format }), message, systemClock, open)
  }
  const [json = '', slack = '', discord = '', ntfy = ''] = receiver.received.map(({ body }) => body)
  assert.equal(JSON.parse(json).data.subject, message.subject)
  assert.match(JSON.parse(slack).text, /&lt;!channel&gt; @everyone \*\*x\*\* &amp;/)
  assert.deepEqual(JSON.parse(discord).allowed_mentions, { parse: [] })
  assert.match(JSON.parse(discord).content, /\\<!channel\\> \\@everyone \\\*\\\*x/)
  assert.match(ntfy, /^Runaway session or client \(run <!channel>/)
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['content-type']),
    ['application/json', 'application/json', 'application/json', 'text/plain; charset=utf-8'],
  )
  assert.equal(receiver.received[3]?.headers['title'], 'tokenweir')
})

test('user and password of an address are sent as such', async () => {
  await using receiver = await startReceiver()
  const url = `${receiver.origin.replace('//', '//user:p%40ss@')}/topic`
  await sendAlert({ url, format: 'ntfy', secret: null, fixedBy: null }, message, systemClock, open)
  const [{ headers, path }] = receiver.received as [(typeof receiver.received)[number]]
  assert.equal(path, '/topic')
  assert.equal(Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString(), 'user:p@ss')
  const unescaped = `${receiver.origin.replace('//', '//user:100%@')}/topic`
  const tried = await tryAlert(
    { url: unescaped, format: 'ntfy', secret: null, fixedBy: null },
    message,
    systemClock,
    open,
  )
  assert.equal(tried.isDelivered, true, tried.detail)
  const { authorization = '' } = receiver.received[1]?.headers ?? {}
  assert.equal(Buffer.from(authorization.split(' ')[1] ?? '', 'base64').toString(), 'user:100%')
})
