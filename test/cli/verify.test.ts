import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { freePort } from '../support/free-port.ts'
import { cut, reset, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, jsonReply, responseHead, sseEvent } from '../support/response-bytes.ts'
import { startSimulatedUpstream, type SimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function verify(
  upstream: SimulatedUpstream | string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  await using directory = await makeTempDir()
  const baseUrl = typeof upstream === 'string' ? upstream : upstream.baseUrl
  await using command = startCommandProcess({
    args: ['verify', '--upstream', baseUrl, ...args],
    directory: directory.path,
    env: { UPSTREAM_API_KEY: '', TMPDIR: directory.path, ...env },
  })
  const { code } = await command.exited
  assert.deepEqual(await readdir(directory.path), [], 'nothing is left')
  return { code, stdout: command.stdout, stderr: command.stderr }
}

test('a stream that was asked for its usage differs in nothing but what is named', async () => {
  await using upstream = await startSimulatedUpstream()
  const { code, stdout, stderr } = await verify(upstream, [], { UPSTREAM_API_KEY: 'sk-verify-me' })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^One call to http:\/\/127\.0\.0\.1:\d+\/v1, model sim-small: /)
  assert.match(stdout, /✓ request line: POST \/v1\/chat\/completions\n/)
  assert.match(stdout, /✓ request headers: 5 as they were sent; Via added; accept-encoding is identity\n/)
  assert.match(stdout, /✓ request body: \d+ bytes .*include_usage":true\}, spliced in\n/)
  assert.match(stdout, /✓ status: 200 OK\n/)
  assert.match(stdout, /✓ answer headers: 3 as they were sent; x-tokenweir-call-id and server-timing added\n/)
  assert.match(stdout, /✓ answer body: \d+ bytes as they were sent; the usage event of \d+ bytes taken out\n/)
  assert.match(stdout, /✓ ending: complete\nNothing differs but what is named\.\n$/)
  assert.doesNotMatch(stdout, /sk-verify-me/)
  const [models, call] = upstream.requests
  assert.deepEqual(
    [models?.target, call?.target, upstream.requests.length],
    ['/v1/models', '/v1/chat/completions', 2],
  )
  assert.equal(call?.header('authorization'), 'Bearer sk-verify-me')
  assert.equal(call?.header('host'), `127.0.0.1:${upstream.port}`)
})

test('a base with a path, a model by name, no stream, no injection', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () =>
      jsonReply(200, { choices: [] }, [
        ['X-Twice', '1'],
        ['x-twice', '2'],
      ]),
  })
  const base = `${upstream.origin}/api/v3`
  const off = await verify(base, ['--model', 'm', '--stream', 'off', '--usage-injection', 'off'])
  assert.equal(off.code, 0)
  assert.match(off.stdout, /✓ request line: POST \/api\/v3\/chat\/completions\n/)
  assert.match(off.stdout, /✓ request body: \d+ bytes as they were sent\n/)
  assert.match(off.stdout, /✓ answer headers: 3 as they were sent/)
  assert.deepEqual(
    upstream.requests.map((request) => request.json()['model']),
    ['m'],
  )
})

test('a refused wish, an error and an answer that breaks off pass as they are', async () => {
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce(jsonReply(400, { error: 'no stream_options here' }))
  const refused = await verify(upstream, ['--model', 'm'])
  assert.equal(refused.code, 0)
  assert.match(refused.stdout, /· the upstream refused to be asked for usage, and was asked again without\n/)

  upstream.replyOnce(jsonReply(401, { error: { message: 'No key' } }))
  const without = await verify(upstream, ['--model', 'm'])
  assert.match(without.stdout, /✓ status: 401 Unauthorized\n.*· the upstream answered 401; UPSTREAM_API_KEY/s)

  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  upstream.replyOnce([write(head), write(chunkFrame(sseEvent('[DON'))), cut()])
  const broken = await verify(upstream, ['--model', 'm'])
  assert.deepEqual([broken.code, broken.stderr], [0, ''])
  assert.match(broken.stdout, /✓ ending: broken off\n/)
})

test('--direct makes more calls, past the gateway and through it, and tells the medians', async () => {
  await using upstream = await startSimulatedUpstream({ model: { firstByteMs: 5, gapMs: 1 } })
  const { code, stdout } = await verify(upstream, ['--direct'])
  assert.equal(code, 0)
  assert.match(stdout, /✓ status, called directly: 200, and 200 through the gateway\n/)
  assert.match(stdout, /✓ header names, called directly: the same 3\n/)
  assert.match(
    stdout,
    /· time to first token: \d+\.\d ms directly, \d+\.\d ms through the gateway \(medians of 3 calls\)\n/,
  )
  assert.equal(upstream.requests.length, 8)
  assert.equal(upstream.requests[2]?.json()['stream_options'], undefined)

  upstream.replyOnce(bodyReply(['{}'], { headers: [['X-New', '1']] }), jsonReply(503, {}))
  const other = await verify(upstream, ['--direct', '--model', 'm'])
  assert.equal(other.code, 1)
  assert.match(other.stdout, /✗ status, called directly: 503, and 200 through the gateway\n/)
  assert.match(other.stdout, /only directly: content-type; only through the gateway: x-new\n/)
  assert.match(other.stdout, /Something differs that must not: .*\n$/)
})

test('what keeps it from its work is said in one line', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  for (const args of [[], ['--model', 'm']]) {
    const { code, stdout, stderr } = await verify(nowhere, args)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^tokenweir: http:\/\/127\.0\.0\.1:\d+: The upstream cannot be reached: nothing listens there \(ECONNREFUSED\)\. --upstream names another\n$/,
    )
  }
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce(jsonReply(200, { data: [] }))
  const none = await verify(upstream)
  assert.deepEqual(
    [none.code, none.stderr],
    [1, 'tokenweir: the upstream answers 200 and lists no models; --model names one\n'],
  )
  upstream.replyOnce([reset()])
  const gone = await verify(upstream, ['--model', 'm'])
  assert.deepEqual(
    [gone.code, gone.stderr],
    [
      1,
      `tokenweir: ${upstream.baseUrl}: The upstream cannot be reached: connection reset (ECONNRESET). --upstream names another\n`,
    ],
  )
  assert.equal((await verify(upstream, ['--stream', 'yes'])).code, 2)
})
