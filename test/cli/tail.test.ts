import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import { type CommandProcess, startCommandProcess } from '../support/command-process.ts'
import { freePort } from '../support/free-port.ts'
import { sampleIncoming as request, sampleOutgoing as answer } from '../support/sample-records.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { type ScriptedFeed, startScriptedFeed } from './scripted-feed.ts'

const { id, timestamp, method, path } = request
const time = new Date(timestamp).toTimeString().slice(0, 8)
const started = { type: 'started', id, timestamp, method, path }
const failed: OutgoingRecord = {
  ...answer,
  seq: 13,
  status: 429,
  outcome: 'upstream_error',
  failure_code: 'upstream_http',
  body: { error: { message: 'slow\x1b[2J down' } },
}

/** Lines of another day than today begin with its date. */
function undated(text: string): string {
  return text.replace(/^(?:\d{4}-)?\d\d-\d\d /gm, '')
}

function startTail(
  directory: TempDir,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): CommandProcess {
  const none = { TOKENWEIR_DB: undefined, TOKENWEIR_PORT: undefined, TOKENWEIR_GATEWAY_PORT: undefined }
  const tokens = { TOKENWEIR_ADMIN_TOKEN: undefined, TOKENWEIR_ADMIN_TOKEN_FILE: undefined, COLUMNS: '100' }
  return startCommandProcess({
    args: ['tail', ...args],
    directory: directory.path,
    env: { ...none, ...tokens, TZ: process.env['TZ'], ...env },
  })
}

/** The feed behind the control socket of the working directory's data folder. */
async function socketFeed(directory: TempDir, enabled = false): Promise<ScriptedFeed> {
  mkdirSync(directory.file('data'), { recursive: true })
  return await startScriptedFeed({ path: directory.file('data/gateway.sock') }, enabled)
}

test('calls are shown as they begin and end, over a restart of the gateway, until Ctrl-C', async () => {
  await using directory = await makeTempDir()
  await using tail = await (async () => {
    await using feed = await socketFeed(directory)
    const process = startTail(directory)
    await process.waitForOutput(
      /following the gateway on data\/gateway\.sock; payloads are not captured: .*\n/,
    )
    feed.tell(started)
    feed.tell(request)
    feed.tell(failed)
    await process.waitForOutput(/slow/)
    return process
  })()
  const first = tail.stdout
  await tail.waitForOutput(/lost the connection to the gateway; waiting for it\n/)
  await using feed = await socketFeed(directory)
  await feed.waitForReaders(1)
  assert.deepEqual(feed.asked[0], { target: 'GET /raw-log/stream', token: undefined })
  await tail.waitForOutput(/reconnected to the gateway\n/)
  feed.tell({ type: 'dropped', count: 3 })
  feed.tell(answer)
  await tail.waitForOutput(/✓/)
  await tail.waitForOutput(/may be missing here.*\n.*3 requests and responses are missing here/)
  assert.equal(
    undated(first),
    `${time} ▸ 0tk3v9x2ab4  POST /v1/chat/completions\n` +
      `${time} ✗ 0tk3v9x2ab4  429    1.80 s  upstream_http  small  100 B\n` +
      '  └ slow\ufffd[2J down\n',
  )
  assert.match(
    tail.stderr,
    /requests and responses may be missing here.*\n.*3 requests and responses are missing here/,
  )
  assert.deepEqual(await tail.stop('SIGINT'), { code: 0, signal: null })
  assert.doesNotMatch(tail.stdout.replaceAll('\n', ''), /\p{Cc}/u)
})

test('where payloads are kept too, that is said', async () => {
  await using directory = await makeTempDir()
  await using feed = await socketFeed(directory, true)
  await using tail = startTail(directory)
  await tail.waitForOutput(/payloads are captured in its log too\n/)
  await feed.waitForReaders(1)
})

test('only calls of a model, and only those that fail, with what they asked', async () => {
  await using directory = await makeTempDir()
  await using feed = await socketFeed(directory)
  await using tail = startTail(directory, ['--json', '--errors', '--model', 'small', '--model', 'tiny'])
  await feed.waitForReaders(1)
  const other = { ...failed, id: '0tk3v9x2ab5', model: 'large' }
  const left = { ...failed, id: '0tk3v9x2ab6', outcome: 'client_disconnected' }
  const tiny = { ...failed, id: '0tk3v9x2ab7', seq: 20, model: 'tiny', body: 'c1 \x9b del \x7f' }
  for (const event of [started, request, other, { ...request, id: left.id }, left, answer]) feed.tell(event)
  for (const event of [request, failed, tiny]) feed.tell(event)
  await tail.waitForOutput(/"seq":20.*\n/)
  assert.deepEqual(
    tail.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    [request, failed, tiny],
  )
  assert.match(tail.stdout, /c1 \\u009b del \\u007f/)
  assert.doesNotMatch(tail.stdout, /[\x7f-\x9f]/)
})

test('a model alone shows a call when its request is whole', async () => {
  await using directory = await makeTempDir()
  await using feed = await socketFeed(directory)
  await using tail = startTail(directory, ['--model', 'small'])
  await feed.waitForReaders(1)
  for (const event of [started, { ...request, model: 'large' }, request, answer]) feed.tell(event)
  await tail.waitForOutput(/✓/)
  assert.deepEqual(tail.stdout.match(/[▸✓] \w+ {2}\w+/gu), ['▸ 0tk3v9x2ab4  POST', '✓ 0tk3v9x2ab4  200'])
})

test('without a socket the port is asked, with the token where it is named; what a gateway refuses is told', async () => {
  await using directory = await makeTempDir()
  const port = await freePort()
  const token = 'correct-horse-battery'
  const env = { TOKENWEIR_GATEWAY_PORT: String(port), TOKENWEIR_ADMIN_TOKEN: token }
  {
    await using feed = await startScriptedFeed({ port, host: '127.0.0.1' })
    await using tail = startTail(directory, [], env)
    await tail.waitForOutput(new RegExp(`following the gateway on http://127\\.0\\.0\\.1:${port};`))
    await using named = startTail(directory, ['--port', String(port)], env)
    await named.waitForOutput(/following the gateway/)
    const asked = { target: 'GET /v1/raw-log/stream' }
    assert.deepEqual(feed.asked, [
      { ...asked, token: undefined },
      { ...asked, token },
    ])
  }
  {
    const body = '{"error":{"message":"Only this machine may.","code":"forbidden"}}'
    await using _ = await startScriptedFeed({ port, host: '127.0.0.1' }, false, { status: 403, body })
    await using tail = startTail(directory, ['--url', `http://127.0.0.1:${port}/v1/`])
    assert.deepEqual(await tail.exited, { code: 1, signal: null })
    assert.equal(
      tail.stderr,
      `tokenweir: the gateway on http://127.0.0.1:${port} refuses (403): Only this machine may.\n`,
    )
  }
  {
    await using _ = await startScriptedFeed({ port, host: '127.0.0.1' }, false, { status: 404, body: '{}' })
    await using tail = startTail(directory, ['--port', String(port)])
    assert.equal((await tail.exited).code, 1)
    assert.match(tail.stderr, /^tokenweir: http:\S+ has no payload feed/)
  }
})

test('where there is no gateway, that is said in one line, with a code of its own', async () => {
  await using directory = await makeTempDir()
  const port = await freePort()
  await using tail = startTail(directory, [], { TOKENWEIR_PORT: String(port) })
  assert.equal((await tail.exited).code, 4)
  assert.equal(
    tail.stderr,
    `tokenweir: no gateway is running on data/gateway.sock or http://127.0.0.1:${port}: ` +
      'start one with "tokenweir gateway", or give its address with --url\n',
  )
  assert.equal(tail.stdout, '')
})
