import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import OpenAI from 'openai'
import { startGatewayProcess } from './gateway-process.ts'
import { openRawClient } from './raw-client.ts'
import { cut, reset, stall, until, write, writeEach } from './reply-step.ts'
import { bodyReply, chunkFrame, lastChunk, responseHead, splitBytes } from './response-bytes.ts'
import { startSimulatedUpstream } from './simulated-upstream.ts'
import { makeTempDir } from './temp-dir.ts'

const message = [{ role: 'user' as const, content: 'What does a weir do?' }]

test('the official client reads every default answer', async () => {
  await using upstream = await startSimulatedUpstream()
  const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'none', maxRetries: 0 })

  const whole = await client.chat.completions.create({ model: 'm', messages: message })
  assert.equal(whole.choices[0]?.message.content, 'The weir holds the water back.')
  assert.equal(whole.usage?.total_tokens, 18)

  const stream = await client.chat.completions.create({
    model: 'm',
    messages: message,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  assert.equal(
    chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
    'The weir holds the water back.',
  )
  assert.deepEqual(chunks.at(-1)?.choices, [])
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 7)

  const plain = await Array.fromAsync(
    await client.chat.completions.create({ model: 'm', messages: message, stream: true }),
  )
  assert.equal(plain.length, chunks.length - 1)
  assert.ok(plain.every((chunk) => !('usage' in chunk)))

  const text = await client.completions.create({ model: 'm', prompt: 'a weir' })
  assert.equal(text.choices[0]?.text, 'The weir holds the water back.')
  const vectors = await client.embeddings.create({ model: 'm', input: ['a', 'b'] })
  assert.deepEqual(vectors.data[1]?.embedding, [0.25, -0.5, 0.75])
  const models = await client.models.list()
  assert.equal(models.data[0]?.id, 'sim-small')
  assert.equal((await client.models.retrieve('org/name')).id, 'org/name')
  await assert.rejects(client.files.list(), { status: 404 })
})

test('what was seen is exact: target, header order and case, body, framing, requests per connection', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => bodyReply(['ok'], { framing: 'content-length' }),
  })
  await using client = await openRawClient(upstream.port)
  const head =
    'POST /v1/x%2Fy?a=%20b HTTP/1.1\r\nhOst: h\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const piece of splitBytes(`${head}3;e=1\r\nab\n\r\n2\r\ncd\r\n0\r\nT: 1\r\n\r\n`, [1]))
    await client.send(piece)
  await client.response('POST')
  await client.send('GET / HTTP/1.1\r\n\r\n')
  await client.response()

  const seen = await upstream.waitForRequest(0)
  assert.equal(seen.target, '/v1/x%2Fy?a=%20b')
  assert.deepEqual(seen.rawHeaders, ['hOst', 'h', 'X-A', '1', 'x-a', '2', 'Transfer-Encoding', 'chunked'])
  assert.equal(seen.headBytes.toString(), head)
  assert.equal(seen.body.toString(), 'ab\ncd')
  assert.equal(seen.framing, 'chunked')
  assert.equal(await seen.replyEnd, 'complete')
  assert.deepEqual(
    upstream.connections.map((connection) => connection.requests.length),
    [2],
  )
})

test('a scripted reply arrives byte for byte: 1xx, odd chunks, trailers, garbage', async () => {
  await using upstream = await startSimulatedUpstream()
  const final = Buffer.concat([
    responseHead(
      200,
      [
        ['X-Odd', 'a'],
        ['x-odd', 'b'],
        ['Transfer-Encoding', 'chunked'],
      ],
      { reason: 'Fine' },
    ),
    chunkFrame('d\u00e9j\u00e0', ';x=y'),
    lastChunk([['X-Sum', '7']]),
  ])
  upstream.replyOnce(
    [write(responseHead(103, [['Link', '</a>']])), ...writeEach(splitBytes(final, [1, 3]))],
    [write('garbage\r\n\r\n'), cut()],
  )
  await using client = await openRawClient(upstream.port)
  await client.send('GET / HTTP/1.1\r\n\r\n')
  assert.equal((await client.response()).status, 103)
  const response = await client.response()
  assert.equal(response.reason, 'Fine')
  assert.deepEqual(response.rawHeaders.slice(0, 4), ['X-Odd', 'a', 'x-odd', 'b'])
  assert.equal(response.body.toString(), 'd\u00e9j\u00e0')
  assert.deepEqual(response.chunkSizes, [6])
  assert.deepEqual(response.trailers, ['X-Sum', '7'])

  await client.send('GET / HTTP/1.1\r\n\r\n')
  assert.equal((await client.waitForBytes('garbage')).toString(), 'garbage\r\n\r\n')
  assert.equal(await client.waitForServerEnd(), 'fin')
})

test('a break in mid-answer is seen by both sides as what it was', async () => {
  await using upstream = await startSimulatedUpstream()
  const start = write(responseHead(200, [['Content-Length', '9']]))
  for (const [end, how] of [
    [cut(), 'fin'],
    [reset(), 'reset'],
  ] as const) {
    upstream.replyOnce([start, write('half'), end])
    await using client = await openRawClient(upstream.port)
    await client.send('GET / HTTP/1.1\r\n\r\n')
    assert.equal(await client.waitForServerEnd(), how)
    const { end: seen } = upstream.connections.at(-1)!
    assert.deepEqual([seen?.by, seen?.how], ['upstream', how])
  }
})

test('it knows when, and how, a client left', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => [write(responseHead(200)), stall()] })
  for (const how of ['fin', 'reset'] as const) {
    await using client = await openRawClient(upstream.port)
    await client.send('GET / HTTP/1.1\r\n\r\n')
    await client.waitForBytes('200 OK')
    const request = upstream.requests.at(-1)!
    await upstream.waitForInFlight(1)
    const leftAtMs = performance.now()
    if (how === 'fin') client.leave()
    else client.reset()
    const end = await request.connection.closed
    assert.deepEqual([end.by, end.how], ['client', how])
    assert.ok(end.atMs >= leftAtMs)
    assert.equal(await request.replyEnd, 'client-left')
  }
  await upstream.waitForInFlight(0)
})

test('a reply waits for the test, and requests in flight are counted', async () => {
  const signal = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream({
    reply: () => [until(signal.promise), ...bodyReply(['done'])],
  })
  const calls = [1, 2, 3].map(async () => (await fetch(upstream.origin)).text())
  await upstream.waitForInFlight(3)
  signal.resolve()
  assert.deepEqual(await Promise.all(calls), ['done', 'done', 'done'])
  await upstream.waitForInFlight(0)
  assert.equal(upstream.peakInFlight, 3)
})

test('an answer may come before the body, and an endless one obeys back-pressure', async () => {
  const block = chunkFrame(Buffer.alloc(65_536, 'x'))
  let written = 0
  await using upstream = await startSimulatedUpstream()
  function* forever(): Generator<ReturnType<typeof write>> {
    yield write(responseHead(200, [['Transfer-Encoding', 'chunked']]))
    for (; written < 20_000; written++) yield write(block)
  }
  upstream.replyOnce({ after: 'head', steps: forever() })
  await using client = await openRawClient(upstream.port)
  await client.send('POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n')
  await client.waitForBytes(block.length)
  client.stopReading()
  await client.send('12')
  await upstream.waitFor('the rest of the body', () => upstream.requests[0]!.body.length === 2)
  // Round trips through the same loop stand for time: the kernel's buffers fill, then nothing more is taken.
  for (let before = -1; before !== written;) {
    before = written
    for (let turn = 0; turn < 20; turn++) await (await fetch(`${upstream.baseUrl}/models`)).text()
  }
  assert.ok(written < 20_000, 'all blocks were taken although nobody reads')
  client.leave()
  assert.equal(await upstream.requests[0]!.replyEnd, 'client-left')
})

test('idle connections can be closed, busy ones stay', async () => {
  await using upstream = await startSimulatedUpstream()
  await using idle = await openRawClient(upstream.port)
  await idle.send('GET /v1/models HTTP/1.1\r\n\r\n')
  await idle.response()
  upstream.replyOnce([stall()])
  await using busy = await openRawClient(upstream.port)
  await busy.send('GET / HTTP/1.1\r\n\r\n')
  await upstream.waitForInFlight(1)
  upstream.closeIdleConnections()
  assert.equal(await idle.waitForServerEnd(), 'fin')
  assert.equal(busy.serverEnd, undefined)
})

test('an HTTP/1.0 client gets its answer and a close; nonsense gets 400', async () => {
  await using upstream = await startSimulatedUpstream()
  await using old = await openRawClient(upstream.port)
  await old.send('GET /v1/models HTTP/1.0\r\n\r\n')
  assert.equal((await old.response()).complete, true)
  assert.equal(await old.waitForServerEnd(), 'fin')
  await using rude = await openRawClient(upstream.port)
  await rude.send('hello\r\n\r\n')
  assert.equal((await rude.response()).status, 400)
  assert.deepEqual(upstream.brokenRequests, ['bad request line: hello'])
})

test('a wait that is in vain says for what', async () => {
  await using upstream = await startSimulatedUpstream()
  await assert.rejects(
    upstream.waitFor('rain', () => false, 10),
    /waited 10 ms in vain for rain/,
  )
})

test('a gateway process is started, asked, stopped, killed, or reported with its output', async () => {
  await using dir = await makeTempDir()
  const fake = dir.file('fake.mjs')
  await writeFile(
    fake,
    `import { createServer } from 'node:http'
     if (process.env.FAIL === '1') { console.error('no such option'); process.exit(2) }
     const server = createServer((_, res) => res.end(JSON.stringify({ status: 'ok', argv: process.argv.slice(2) })))
     server.listen(0, '127.0.0.1', () => console.log('tokenweir listening on http://127.0.0.1:' + server.address().port))
     process.on('SIGTERM', () => process.exit(0))`,
  )
  const options = { upstream: 'http://127.0.0.1:1/v1', command: fake }
  let directory: string
  {
    await using gateway = await startGatewayProcess({ ...options, args: ['--max-concurrent', '2'] })
    directory = gateway.directory
    const { argv } = await gateway.health()
    assert.ok(Array.isArray(argv))
    assert.deepEqual(argv.slice(0, 3), ['gateway', '--port', '0'])
    assert.deepEqual(argv.slice(-2), ['--max-concurrent', '2'])
    assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  }
  await assert.rejects(readFile(directory), { code: 'ENOENT' })
  await using killed = await startGatewayProcess(options)
  assert.deepEqual(await killed.kill9(), { code: null, signal: 'SIGKILL' })
  await assert.rejects(
    startGatewayProcess({ ...options, env: { FAIL: '1' } }),
    /ended with 2[^]*no such option/,
  )
})
