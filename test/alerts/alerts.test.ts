import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { test } from 'node:test'
import OpenAI from 'openai'
import type { AlertReceiver } from '../../src/alerts/alert-request.ts'
import { AlertService, alertFilesOf } from '../../src/alerts/alert-service.ts'
import { sendAlert, tryAlert } from '../../src/alerts/send-alert.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { type Clock, systemClock } from '../../src/call/clock.ts'
import type { AlertSums } from '../../src/query/alerts-answer.ts'
import type { QueryOutcome } from '../../src/query/query-messages.ts'
import type { QueryQuestion } from '../../src/query/query-question.ts'
import { runningStatus } from '../dashboard/scripted-gateway.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { freePort } from '../support/free-port.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { sampleMessage, startReceiver } from './alert-receiver.ts'
import { quietSums } from './quiet-sums.ts'

const everyMs = 30_000

const figures: AlertSums = { ...quietSums, last_seq: 7 }

const failing: Partial<AlertSums> = { window: { ...figures.window, failed: 20, answered: 20 } }

function answerOf(change: Partial<AlertSums> = {}): QueryOutcome {
  const body = Buffer.from(JSON.stringify({ ...figures, ...change }))
  return { kind: 'answer', format: 'json', body, tag: '', nextCursor: null }
}

/** A dashboard's surroundings, which the test changes. */
class Scene {
  readonly clock = new FakeClock()
  readonly warnings: string[] = []
  readonly asked: QueryQuestion[] = []
  status: ProcessStatus = runningStatus
  answer: () => Promise<QueryOutcome> = async () => answerOf()
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  service(receiver: Partial<AlertReceiver> | null = null): AlertService {
    return new AlertService({
      folder: this.folder,
      clock: this.clock,
      everyMs,
      gateway: { status: async () => this.status },
      queries: {
        ask: (question) => {
          this.asked.push(question)
          return this.answer()
        },
      },
      receiverOf: (kept) => {
        const webhook = receiver === null ? kept : { url: '', format: 'json' as const, ...receiver }
        return webhook === undefined ? null : { secret: null, fixedBy: null, ...webhook }
      },
      warn: (line) => this.warnings.push(line),
    })
  }

  /** The messages that the folder holds, oldest first: `begins error_ratio delivered`. */
  messages(): readonly string[] {
    const text = readFileSync(alertFilesOf(this.folder).record, 'utf8')
    const { messages } = JSON.parse(text) as {
      messages: readonly { kind: string; rule: string; state: string }[]
    }
    return messages.map(({ kind, rule, state }) => `${kind} ${rule} ${state}`)
  }

  /** Lets sockets do their work until the folder holds these messages. */
  async untilMessages(...expected: readonly string[]): Promise<void> {
    for (let turn = 0; turn < 2000 && this.messages().join() !== expected.join(); turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.deepEqual(this.messages(), expected)
  }
}

test('one question a look, and a slow database is not asked again before it has answered', async () => {
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const slow = Promise.withResolvers<QueryOutcome>()
  scene.answer = () => slow.promise
  const service = scene.service()
  service.start()
  await scene.clock.advance(10 * everyMs)
  assert.deepEqual(scene.asked, [{ kind: 'alerts', afterSeq: null }])
  scene.answer = async () => answerOf()
  slow.resolve(answerOf(failing))
  await scene.clock.advance(everyMs)
  assert.deepEqual(scene.asked.slice(1), [{ kind: 'alerts', afterSeq: 7 }])
  assert.deepEqual(fieldsOf(service.active(), 'rule'), ['error_ratio'])
  service.close()
})

test('a question without an answer, or a gateway that cannot be asked, neither begins nor ends an alert', async () => {
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const service = scene.service()
  scene.answer = async () => answerOf(failing)
  await service.checkRules()
  for (const outcome of [
    async () => ({ kind: 'unavailable', code: 'too_busy' }) as const,
    async () => ({ kind: 'refused', code: 'too_slow', message: '', param: null, data: null }) as const,
    () => Promise.reject(new Error('a fault of the process')),
    async () => answerOf({ ...figures, store: 'damaged' } as Partial<AlertSums>),
  ]) {
    scene.answer = outcome
    scene.clock.stepWallTime(3_600_000)
    await service.checkRules().catch(() => undefined)
  }
  assert.deepEqual(scene.messages(), ['begins error_ratio unsent'])
  service.close()
})

test('a restart sends no second message of what goes on, and loses none of what ended', async () => {
  await using receiver = await startReceiver()
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const first = scene.service({ url: receiver.origin })
  scene.answer = async () => answerOf(failing)
  await first.checkRules()
  await receiver.waitFor(1)
  await scene.untilMessages('begins error_ratio delivered')
  first.close()

  const second = scene.service({ url: receiver.origin })
  await second.checkRules()
  second.close()
  const third = scene.service({ url: receiver.origin })
  scene.answer = async () => answerOf()
  scene.clock.stepWallTime(600_000)
  await third.checkRules()
  await receiver.waitFor(2)
  await scene.untilMessages('begins error_ratio delivered', 'ended error_ratio delivered')
  assert.deepEqual(receiver.types(), ['alert.begins error_ratio', 'alert.ended error_ratio'])
  third.close()
})

test('a message that was under way when the dashboard ended is sent by the next one, under the same id', async () => {
  await using dir = await makeTempDir()
  await using receiver = await startReceiver((response, index) => {
    if (index > 0) response.end()
  })
  const scene = new Scene(dir.path)
  const first = scene.service({ url: receiver.origin })
  scene.answer = async () => answerOf(failing)
  await first.checkRules()
  await receiver.waitFor(1)
  first.close()
  const second = scene.service({ url: receiver.origin })
  await second.checkRules()
  await receiver.waitFor(2)
  await scene.untilMessages('begins error_ratio delivered')
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids[0], ids[1])
  second.close()
})

test('while a receiver hangs the rules are looked at all the same, and what waits is bounded and counted', async () => {
  await using dir = await makeTempDir()
  await using receiver = await startReceiver(() => undefined)
  const scene = new Scene(dir.path)
  const service = scene.service({ url: receiver.origin })
  for (let look = 0; look < 12; look += 1) {
    scene.clock.stepWallTime(360_000)
    const name = (index: number): string => `s${look} ${index}`
    const used = { by: 'session', tokens: 9e9 } as const
    const tokens = Array.from({ length: 20 }, (_, index) => ({ ...used, name: name(index) }))
    scene.answer = async () => answerOf({ tokens })
    await service.checkRules()
  }
  const { dropped, pending, active, messages } = service.report()
  // Each look after the first ends ten and begins ten.
  assert.equal(active.length, 10)
  assert.equal(messages.length, 20)
  assert.deepEqual([dropped, pending], [130, 100])
  assert.equal(scene.messages().length, 100)
  service.close()
})

test('of two dashboards of a folder one looks and sends; the other shows the same, and takes over', async () => {
  await using receiver = await startReceiver()
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  scene.answer = async () => answerOf(failing)
  const [one, other] = [scene.service({ url: receiver.origin }), scene.service({ url: receiver.origin })]
  await one.checkRules()
  await other.checkRules()
  assert.equal(scene.asked.length, 1)
  assert.deepEqual(other.active(), one.active())
  await scene.untilMessages('begins error_ratio delivered')
  one.close()
  await other.checkRules()
  assert.equal(scene.asked.length, 2)
  assert.deepEqual(scene.messages(), ['begins error_ratio delivered'])
  other.close()
})

test('a gateway is missed if it was killed, also while no dashboard was there, and not if it was stopped', async () => {
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const stopped = { ...runningStatus, state: 'stopped', health: null, message: null } as const
  const killed = { ...stopped, message: 'The last gateway (process 1) ended unexpectedly.' }
  const looks = async (service: AlertService, status: ProcessStatus): Promise<readonly string[]> => {
    scene.status = status
    for (let look = 0; look < 4; look += 1) {
      await service.checkRules()
      scene.clock.stepWallTime(everyMs)
    }
    return service.active().map(({ rule }) => rule)
  }
  let service = scene.service()
  assert.deepEqual(await looks(service, killed), [], 'none ran since anybody looked')
  assert.deepEqual(await looks(service, runningStatus), [])
  assert.deepEqual(await looks(service, stopped), [], 'it was stopped in order')
  assert.deepEqual(await looks(service, killed), [], 'that order still holds')
  assert.deepEqual(await looks(service, runningStatus), [])
  service.close()
  service = scene.service()
  assert.deepEqual(await looks(service, killed), ['gateway_down'])
  assert.deepEqual(await looks(service, runningStatus), [])
  const text = scene.messages()
  assert.deepEqual(text, ['begins gateway_down unsent', 'ended gateway_down unsent'])
  service.close()
})

for (const hours of [2, -2]) {
  test(`a session that costs much is told by what was added to it, and no more ${hours} hours later by the clock`, async () => {
    await using dir = await makeTempDir()
    const scene = new Scene(dir.path)
    const service = scene.service()
    const add = (cost_usd: number): AlertSums['sessions'] => [
      { session: 'long run', cost_usd, ended_ms: scene.clock.wallTime() },
    ]
    const told: (readonly string[])[] = []
    for (const usd of [12, 7.5, 1]) {
      scene.answer = async () => answerOf({ sessions: add(usd) })
      await service.checkRules()
      told.push(service.active().map(({ subject, text }) => `${subject}: ${text}`))
    }
    assert.deepEqual(told, [[], [], ['long run: This session has cost $20.50 so far.']])
    scene.answer = async () => answerOf()
    scene.clock.stepWallTime(hours * 3_600_000)
    await service.checkRules()
    assert.deepEqual(scene.messages(), ['begins spend_session unsent', 'ended spend_session unsent'])
    service.close()
  })
}

test('a file that is broken, or cannot be written, is said once, and the rules go on', async () => {
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const service = scene.service()
  await service.change({ error_ratio: { threshold: 90 } })
  writeFileSync(alertFilesOf(dir.path).settings, '{"error_ratio": {"threshold": 0}}')
  scene.answer = async () => answerOf({ window: { ...figures.window, failed: 17, answered: 20 } })
  for (let look = 0; look < 3; look += 1) await service.checkRules()
  assert.equal(scene.warnings.length, 1)
  const said = /error_ratio\.threshold must be .* The last valid alert rules stay in force\.$/
  assert.match(scene.warnings[0] ?? '', said)
  assert.match(service.report().problem ?? '', /error_ratio\.threshold/)
  assert.deepEqual(service.active(), [])
  service.close()
})

test('what an old or a damaged record holds is no reason to fail', async () => {
  await using dir = await makeTempDir()
  const path = alertFilesOf(dir.path).record
  for (const text of ['', '{', '[]', '{"states": 1}', '{"isWanted":true,"states":[{"rule":1}]}', '\0']) {
    writeFileSync(path, text)
    const service = new Scene(dir.path).service()
    await service.checkRules()
    assert.deepEqual(service.active(), [], text)
    service.close()
  }
  const gone = { rule: 'of_another_version', subject: null, text: 'x', level: 0, sinceMs: 1, seenMs: 1 }
  const states = [{ ...gone, toldMs: 1, toldLevel: 0, isSent: true }]
  const record = { isWanted: false, states, messages: [], dropped: 0, lookedAt: null, receiver: null }
  writeFileSync(path, JSON.stringify(record))
  const scene = new Scene(dir.path)
  const service = scene.service()
  await service.checkRules()
  assert.deepEqual(scene.messages(), ['ended of_another_version unsent'])
  service.close()
})

test('a test says what came back; without a webhook it says how to get one', async () => {
  await using dir = await makeTempDir()
  await using receiver = await startReceiver((response) => response.writeHead(410).end('gone'))
  const scene = new Scene(dir.path)
  assert.match((await scene.service().test()).detail, /--alert-webhook/)
  const service = scene.service({ url: `${receiver.origin}/secret-path` })
  const tested = { delivered: false, detail: '410 Gone: gone' }
  const [one, same] = await Promise.all([service.test(), service.test()])
  assert.deepEqual([one, same], [tested, tested])
  assert.equal(receiver.received.length, 1)
  const report = service.report()
  assert.equal(report.messages.map(({ kind, state }) => `${kind} ${state}`).join(' '), 'test failed')
  assert.ok(!JSON.stringify(report).includes('secret-path'))
  service.close()
})

test('a webhook that is set is used at once and by the next dashboard, and its address is shown nowhere', async () => {
  await using receiver = await startReceiver()
  await using dir = await makeTempDir()
  const { host } = new URL(receiver.origin)
  const scene = new Scene(dir.path)
  const service = scene.service()
  const { receiver: set } = await service.change({ webhook: { url: `${receiver.origin}/secret-path` } })
  assert.deepEqual(set, { host, format: 'json', signed: false, fixed_by: null })
  await service.change({ webhook: { format: 'ntfy' }, budget: { threshold: 70 } })
  assert.deepEqual(await service.test(), { delivered: true, detail: '204 No Content' })
  assert.equal(receiver.received[0]?.path, '/secret-path')
  assert.match(receiver.received[0]?.body ?? '', /^Test\n/)
  assert.ok(!JSON.stringify(service.report()).includes('secret-path'))
  assert.equal(scene.service().report().receiver?.format, 'ntfy')

  await assert.rejects(service.change({ webhook: { url: 'secret:' } }), (error: Error) => {
    assert.match(error.message, /^webhook\.url must be an http or https URL\.$/)
    return true
  })
  await service.change({ webhook: null })
  assert.equal(service.report().receiver, null)
  await assert.rejects(service.change({ webhook: { format: 'slack' } }), /^.*webhook\.url must be/)
  assert.equal(service.report().rules.find(({ code }) => code === 'budget')?.threshold, 70)

  // A broken file is told without what may be a secret.
  writeFileSync(alertFilesOf(dir.path).settings, '{"webhook": {"url": "ftp:secret-path", "format": "json"}}')
  const { problem } = service.report()
  assert.match(problem ?? '', /line 1, column 21: webhook\.url must be an http or https URL\.$/)

  const fixed = scene.service({ url: receiver.origin, fixedBy: 'TOKENWEIR_ALERT_WEBHOOK' })
  await assert.rejects(fixed.change({ webhook: null }), /set by TOKENWEIR_ALERT_WEBHOOK/)
})

test('what waited for a webhook that is removed goes to no later one, which hears of what is active', async () => {
  await using old = await startReceiver((response) => response.writeHead(503).end())
  await using next = await startReceiver()
  await using dir = await makeTempDir()
  const scene = new Scene(dir.path)
  const service = scene.service()
  await service.change({ webhook: { url: old.origin } })
  scene.answer = async () => answerOf({ ...failing, tokens: [{ by: 'session', name: 'a', tokens: 9e9 }] })
  await service.checkRules()
  await old.waitFor(1)
  scene.answer = async () => answerOf(failing)
  scene.clock.stepWallTime(360_000)
  await service.checkRules()
  const begun = ['begins error_ratio', 'begins velocity', 'ended velocity']
  assert.deepEqual(
    scene.messages(),
    begun.map((message) => `${message} pending`),
  )

  await service.change({ webhook: null })
  const unsent = begun.map((message) => `${message} unsent`)
  assert.deepEqual(scene.messages(), unsent)
  await service.change({ webhook: { url: next.origin } })
  await service.checkRules()
  await scene.untilMessages(...unsent, 'begins error_ratio delivered')
  assert.deepEqual(next.types(), ['alert.begins error_ratio'])
  await scene.clock.advance(100_000)
  assert.equal(old.received.length, 1)
  service.close()
})

test('what waits for a webhook that cannot be reached goes to the one that is set instead', async () => {
  await using dir = await makeTempDir()
  await using old = await startReceiver((response) => response.writeHead(503).end())
  await using next = await startReceiver()
  const scene = new Scene(dir.path)
  const service = scene.service()
  await service.change({ webhook: { url: old.origin } })
  scene.answer = async () => answerOf(failing)
  await service.checkRules()
  await old.waitFor(1)
  await service.change({ webhook: { url: next.origin } })
  await service.checkRules()
  await scene.untilMessages('begins error_ratio delivered')
  assert.equal(next.received[0]?.headers['webhook-id'], old.received[0]?.headers['webhook-id'])
  service.close()
})

const secretPath = '/services/T0AAAAAAA/B0BBBBBBB/dGhlIHNlY3JldA'

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

const later = (retryAfter: string) => ({ 'retry-after': retryAfter })
const long = [10_000, 60_000]

/**
 * The answer of each try, what comes of it, and the waits between the tries. The time for an answer may be over as soon as
 * the message has come, or the head of its answer.
 */
const cases: readonly (readonly [
  what: string,
  answer: (response: ServerResponse, index: number) => void,
  detail: string,
  waits?: readonly number[],
  overAt?: 'message' | 'head',
])[] = [
  ['takes it', (response) => response.end('ok'), '200 OK'],
  ['answers garbage with 200', (response) => response.end(Buffer.from([0, 255, 1, 254])), '200 OK'],
  [
    'takes it and lets its answer trickle without end',
    (response) => void response.writeHead(200).write('.'),
    '200 OK',
  ],
  [
    'fails once',
    (response, index) => response.writeHead(index === 0 ? 503 : 204).end(),
    '204 No Content',
    [10_000],
  ],
  [
    'fails always',
    (response) => response.writeHead(500).end('internal_error'),
    '500 Internal Server Error: internal_error',
    long,
  ],
  [
    'asks to wait, in bounds and beyond',
    (response, index) => response.writeHead(429, later(index === 0 ? '30' : '86400')).end('rate_limited'),
    '429 Too Many Requests: rate_limited',
    [30_000, 300_000],
  ],
  [
    'asks to wait until a time that was',
    (response, index) =>
      response.writeHead(index === 0 ? 429 : 200, later('Wed, 21 Oct 2015 07:28:00 GMT')).end(),
    '200 OK',
    [10_000],
  ],
  [
    'refuses for good, with a word',
    (response) => response.writeHead(403).end('invalid_token'),
    '403 Forbidden: invalid_token',
  ],
  [
    'refuses with a page that repeats the address',
    (response) => response.writeHead(404).end(`<html>Cannot POST ${secretPath}</html>`),
    '404 Not Found',
  ],
  [
    'refuses with a word of the address',
    (response) => response.writeHead(404).end('no hook B0BBBBBBB here'),
    '404 Not Found',
  ],
  [
    'sends elsewhere',
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
    '302 Found: redirects are not followed',
  ],
  ['never answers', () => undefined, 'no answer within 10 s', long, 'message'],
  [
    'refuses, and lets the reason trickle without end',
    (response) => void response.writeHead(400).write('a'),
    '400 Bad Request',
    [],
    'head',
  ],
  ['breaks off', (response) => response.destroy(), 'no answer: UND_ERR_SOCKET', long],
]

for (const [what, answer, detail, waits = [], overAt] of cases) {
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
    const sent = await sendAlert(receiverAt(receiver.origin), sampleMessage, hasty.clock, open)
    assert.deepEqual([sent.detail, sent.isDelivered], [detail, detail.startsWith('2')])
    assert.deepEqual([receiver.received.length, hasty.waits], [waits.length + 1, waits])
    assert.ok(receiver.received.every(({ headers }) => headers['webhook-id'] === 'msg_1'))
  })
}

test('nobody there, and one that speaks no HTTP', async () => {
  const port = await freePort()
  const { clock, waits } = hastyClock()
  const receiver = receiverAt(`http://127.0.0.1:${port}`)
  assert.equal((await sendAlert(receiver, sampleMessage, clock, open)).detail, 'no answer: ECONNREFUSED')
  assert.deepEqual(waits, [10_000, 60_000])
  const mute = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n'))
  mute.listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => mute.once('listening', resolve))
    const address = mute.address()
    assert.ok(typeof address === 'object' && address !== null)
    const told = await sendAlert(receiverAt(`http://127.0.0.1:${address.port}`), sampleMessage, clock, open)
    assert.match(told.detail, /^no answer: (?:[A-Z_]+|the connection broke)$/)
  } finally {
    mute.close()
  }
})

test('who is told to stop waits for nothing', async () => {
  await using receiver = await startReceiver(() => undefined)
  const closing = new AbortController()
  const sending = sendAlert(receiverAt(receiver.origin), sampleMessage, systemClock, closing.signal)
  await receiver.waitFor(1)
  closing.abort()
  await assert.rejects(sending, { name: 'AbortError' })
})

for (const secret of ['plain text', `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`]) {
  test(`what is signed with ${secret.slice(0, 6)}… is verified by a library of others`, async () => {
    await using receiver = await startReceiver()
    await sendAlert(receiverAt(receiver.origin, { secret }), sampleMessage, systemClock, open)
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]]
    const { webhooks } = new OpenAI({ apiKey: 'unused' })
    // It takes a secret for base64 if it can be.
    const asBase64 = secret.startsWith('whsec_') ? secret : `whsec_${Buffer.from(secret).toString('base64')}`
    const given = headers as Record<string, string>
    await webhooks.verifySignature(body, given, asBase64)
    await assert.rejects(webhooks.verifySignature(`${body} `, given, asBase64))
    const earlier = { ...given, 'webhook-timestamp': '1795000000' }
    await assert.rejects(webhooks.verifySignature(body, earlier, asBase64))
    assert.deepEqual(JSON.parse(body).type, 'alert.begins')
  })
}

test('in each format a name of a client stays a name', async () => {
  await using receiver = await startReceiver()
  for (const format of ['json', 'slack', 'discord', 'ntfy'] as const) {
    await sendAlert(receiverAt(receiver.origin, { format }), sampleMessage, systemClock, open)
  }
  const [json = '', slack = '', discord = '', ntfy = ''] = receiver.received.map(({ body }) => body)
  assert.equal(JSON.parse(json).data.subject, sampleMessage.subject)
  assert.match(JSON.parse(slack).text, /&lt;!channel&gt; @everyone \*\*x\*\* &amp;/)
  assert.deepEqual(JSON.parse(discord).allowed_mentions, { parse: [] })
  assert.match(JSON.parse(discord).content, /\\<!channel\\> \\@everyone \\\*\\\*x/)
  assert.match(ntfy, /^Runaway session or client \(run <!channel>/)
  const types = receiver.received.map(({ headers }) => headers['content-type'])
  assert.equal(types.join(' '), `${'application/json '.repeat(3)}text/plain; charset=utf-8`)
  assert.equal(receiver.received[3]?.headers['title'], 'tokenweir')
})

test('user and password of an address are sent as such', async () => {
  await using receiver = await startReceiver()
  const url = `${receiver.origin.replace('//', '//user:p%40ss@')}/topic`
  await sendAlert(receiverAt('', { url, format: 'ntfy' }), sampleMessage, systemClock, open)
  const [{ headers, path }] = receiver.received as [(typeof receiver.received)[number]]
  assert.equal(path, '/topic')
  assert.equal(Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString(), 'user:p@ss')
  const unescaped = receiverAt('', {
    url: `${receiver.origin.replace('//', '//user:100%@')}/topic`,
    format: 'ntfy',
  })
  const tried = await tryAlert(unescaped, sampleMessage, systemClock, open)
  assert.equal(tried.isDelivered, true, tried.detail)
  const { authorization = '' } = receiver.received[1]?.headers ?? {}
  assert.equal(Buffer.from(authorization.split(' ')[1] ?? '', 'base64').toString(), 'user:100%')
})
