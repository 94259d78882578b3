import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { systemClock } from '../../src/call/clock.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { RawLogRelay } from '../../src/supervisor/raw-log-relay.ts'
import { rawLogStatus } from '../dashboard/scripted-gateway.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const ofFiles: RawLogStatus = { ...rawLogStatus, enabled: false, file_path: '/files/payloads.jsonl' }

interface Relay extends AsyncDisposable {
  readonly relay: RawLogRelay
  /** How often the files were cleared. */
  readonly clears: () => number
}

/** Before a gateway that answers so on its control socket; null where none runs. */
async function makeRelay(answer: RequestListener | null): Promise<Relay> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await makeTempDir())
  if (answer !== null) {
    const server = createServer(answer).listen(folder.file('gateway.sock'))
    await once(server, 'listening')
    cleanup.defer(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  let clears = 0
  const relay = new RawLogRelay({
    client: new ControlClient(folder.path),
    files: {
      filePath: ofFiles.file_path,
      status: async () => ofFiles,
      clear: () => {
        clears += 1
        return Promise.resolve()
      },
    },
    clock: systemClock,
    onFault: (error) => assert.fail(String(error)),
  })
  const owned = cleanup.move()
  return { relay, clears: () => clears, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('without a gateway the files answer, and what needs one is refused in words', async () => {
  await using made = await makeRelay(null)
  const { relay, clears } = made
  assert.equal(await relay.status(), ofFiles)
  assert.deepEqual(await relay.readState(), { logging: null, filePath: ofFiles.file_path })
  assert.deepEqual([await relay.clear(), clears()], [{ success: true }, 1])
  assert.equal(await relay.recent(5), null)
  await assert.rejects(relay.toggle({ enabled: true }), {
    code: 'not_running',
    message: /^No gateway is running/,
  })
  await assert.rejects(relay.stream(), { code: 'not_running' })
})

test('with one, it is asked, and the files are left alone', async () => {
  const { enabled, enabled_until, file_path, file_size_bytes } = rawLogStatus
  const switched = { enabled, enabled_until, file_path, file_size_bytes, success: true }
  const answers: Readonly<Record<string, object>> = {
    '/raw-log/status': rawLogStatus,
    '/raw-log/toggle': switched,
  }
  const asked: string[] = []
  await using made = await makeRelay((req, res) => {
    void text(req).then((body) => {
      asked.push([req.method, req.url, body].join(' ').trim())
      res.end(JSON.stringify(answers[req.url ?? ''] ?? { success: true }))
    })
  })
  const { relay, clears } = made
  assert.deepEqual(await relay.status(), rawLogStatus)
  assert.deepEqual(await relay.readState(), { logging: true, filePath: rawLogStatus.file_path })
  assert.deepEqual(await relay.toggle({ enabled: true, for_s: 5 }), switched)
  assert.deepEqual([await relay.clear(), clears()], [{ success: true }, 0])
  for (const stream of [await relay.recent(5), await relay.stream()]) {
    assert.ok(stream !== null)
    assert.equal(await text(stream), '{"success":true}')
  }
  assert.deepEqual(asked, [
    'GET /raw-log/status',
    'GET /raw-log/status',
    'POST /raw-log/toggle {"enabled":true,"for_s":5}',
    'POST /raw-log/clear',
    'GET /raw-log/recent?limit=5',
    'GET /raw-log/stream',
  ])
})

test('what the gateway refuses is told with its status, code and words', async () => {
  await using made = await makeRelay((_, res) => {
    const error = { message: 'Full.', type: 'server_error', param: null, code: 'too_many_readers' }
    res.writeHead(503, { 'Retry-After': '5' }).end(JSON.stringify({ error }))
  })
  const { relay } = made
  const refusal = { status: 503, code: 'too_many_readers', message: 'Full.', headers: { 'Retry-After': '5' } }
  await assert.rejects(relay.stream(), refusal)
  await assert.rejects(relay.toggle({}), refusal)
  await assert.rejects(relay.status(), refusal)
  assert.deepEqual(await relay.readState(), { logging: null, filePath: ofFiles.file_path })
})

test('a gateway that says nothing is not waited for', async () => {
  await using made = await makeRelay(() => undefined)
  await assert.rejects(made.relay.status(), { code: 'gateway_silent' })
})

test('the feed is followed until it is left', async () => {
  let readers = 0
  const left = Promise.withResolvers<void>()
  await using made = await makeRelay((_, res) => {
    readers += 1
    res.write('data: {"type":"connected"}\n\nid: 4\ndata: {}\n\n')
    res.once('close', () => left.resolve())
  })
  const seen: (string | undefined)[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const leave = made.relay.follow({
    onEvent: ({ id }) => {
      seen.push(id)
      if (id !== undefined) resolve()
    },
    onLost: () => seen.push('lost'),
  })
  await promise
  assert.deepEqual([seen, readers], [[undefined, '4'], 1])
  leave()
  await left.promise
  assert.deepEqual(seen, [undefined, '4'])
})
