/** Whatever another process says, of whichever version it is: nobody ends by it, and nothing changes. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type Server, type ServerResponse, Agent, createServer, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatCallId } from '../../src/call/call-id.ts'
import { systemClock } from '../../src/call/clock.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import type { ControlStatus, DrainReport } from '../../src/control/control-messages.ts'
import { ownIdentity } from '../../src/lib/process/process-identity.ts'
import type { ToQuery } from '../../src/query/query-messages.ts'
import { Jobs } from '../../src/supervisor/jobs.ts'
import { JobError } from '../../src/supervisor/run-job.ts'
import { tailPrinter } from '../../src/cli/terminal/tail-printer.ts'
import { payloadTopic } from '../../src/dashboard/events/payload-topic.ts'
import type { FeedListener } from '../../src/supervisor/raw-log-relay.ts'
import { type Damage, damagedTexts } from '../support/damaged-messages.ts'
import { requestBytes } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { openRawClient } from '../support/raw-client.ts'
import { until, write } from '../support/reply-step.ts'
import { chunkFrame, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { eventually } from '../support/eventually.ts'
import { FakeGateway } from './fake-gateway.ts'
import { filesIn, gatewayCommand, makeWorkplace } from './workplace.ts'

const each = 1000
const damages: readonly Damage[] = ['junk', 'cut', 'older', 'newer']
const scriptAt = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** What a gateway goes by. */
function stateOf({ identity, options, health, predecessors, draining }: ControlStatus): object {
  const { rate_limiter: slots, token_budget: budget, raw_log: rawLog, status } = health
  return { identity, options, slots, budget, rawLog, status, predecessors, draining }
}

async function statusOf(folder: string): Promise<ControlStatus> {
  const status = await new ControlClient(folder).status()
  assert.ok(typeof status === 'object')
  return status
}

test('the control socket: a gateway outlives what it is told, and goes by what it went by', async () => {
  await using place = await makeWorkplace()
  await place.supervisor({ args: [`--port=${await freePort()}`] }).start()
  const isKnown = async (): Promise<boolean> => (await statusOf(place.folder)).health.token_budget.known
  await eventually('the past to be read', isKnown)
  const before = stateOf(await statusOf(place.folder))
  const socketPath = join(place.folder, 'gateway.sock')
  const report: DrainReport = {
    instance: 'odd',
    identity: ownIdentity(),
    calls: 0,
    slots: [{ name: 'local', max: 4, holding: 1, wants: 0, clients: [{ of: 'a', slots: 1 }] }],
    used: [],
    minutes: [{ key: 'upstream:default:requests', more: 2, isAwaited: true }],
    reserved: 0,
    counted: 0,
    answers: [],
    isLast: true,
  }
  using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    [Symbol.dispose]: () => agent.destroy(),
  })
  const order = { command: ['/'], args: [], env: {}, cwd: '/', log_file: '/', limit_ms: 1 }
  for (const [path, message, kinds] of [
    ['/draining', report, ['junk', 'cut', 'older']],
    ['/hand-over', order, ['junk', 'cut', 'older']],
    ['/options', { max_concurrent: 3, slot_cooldown_ms: 1 }, ['cut', 'newer']],
  ] as const) {
    for (const body of kinds.flatMap((damage) => damagedTexts(message, damage, each / 4))) {
      const asked = request({ socketPath, method: 'POST', path, agent }).end(body)
      const [refused] = await once(asked, 'response')
      await text(refused)
      assert.equal(refused.statusCode, 400, body)
    }
  }
  assert.deepEqual(stateOf(await statusOf(place.folder)), before)
})

test('a hand-over: a gateway outlives what its successor asks and orders, and finishes its calls', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const gate = Promise.withResolvers<void>()
  const first = chunkFrame(
    sseEvent({ choices: [{ index: 0, delta: { content: 'w0' }, finish_reason: null }] }),
  )
  const last = Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])
  upstream.replyOnce([write(streamHead), write(first), until(gate.promise), write(last)])
  const port = await freePort()
  await place.supervisor({ args: [`--port=${port}`, `--upstream=${upstream.baseUrl}`] }).start()
  await using client = await openRawClient(port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m","stream":true}' }))
  await client.waitForBytes('w0')
  const [old] = place.gateways()
  const log = place.file('odd.log')
  const answer = await new ControlClient(place.folder).handOver(
    {
      command: [process.execPath, scriptAt('odd-successor.ts'), place.folder],
      args: [],
      env: {},
      cwd: place.folder,
      log_file: log,
      limit_ms: 20_000,
    },
    30_000,
  )
  assert.ok(typeof answer === 'object' && 'successor' in answer, JSON.stringify(answer))
  try {
    // It has obeyed the one answer that was one, and tells its call.
    const obeyed = '"answers":[{"seq":7,'
    await eventually('the order to be obeyed', () => readFileSync(log, 'utf8').includes(obeyed))
    gate.resolve()
    const response = await client.response()
    assert.ok(response.complete)
    assert.match(response.body.toString(), /w0[^]*\[DONE\]/)
    await client[Symbol.asyncDispose]()
    await eventually('the predecessor to end', () => !place.gateways().includes(old!))
  } finally {
    process.kill(answer.successor.pid, 'SIGKILL')
  }
})

test('a hand-over: a successor ignores what is no answer, and what a newer handover has beside', async () => {
  await using dir = await makeTempDir()
  const port = await freePort()
  const [, bin = '', name = ''] = gatewayCommand
  const child: ChildProcess = fork(bin, [name, ...filesIn(dir.path), `--port=${port}`, '--host=127.0.0.1'], {
    env: { ...process.env, TOKENWEIR_HAND_OVER: '1' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    const handover = {
      instance: 'gone',
      identity: { ...ownIdentity(), bootId: 'of another boot' },
      host: '127.0.0.1',
      port,
      reserved: 0,
      predecessors: [],
      rawLog: { enabled: false, untilMs: null, asked: false },
      used: [],
      usedSinceMs: null,
      usedByOwners: [],
      minutes: [],
      new_one: { deep: [1] },
    }
    const answers: Readonly<Record<string, object>> = {
      handover: { handover, new_one: 1 },
      listener: { yours: true },
    }
    const asked: string[] = []
    const ready = new Promise<object>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
      child.on('message', (message: { readonly asks?: string }) => {
        if (message.asks === undefined) return resolve(message)
        asked.push(message.asks)
        const other = message.asks === 'handover' ? { yours: true } : { handover }
        for (const damage of ['junk', 'cut'] as const)
          for (const damaged of damagedTexts({ words: 'of another kind' }, damage, each)) child.send(damaged)
        child.send(other)
        child.send(answers[message.asks]!)
      })
    })
    assert.deepEqual(await ready, { ready: true, controlled: true })
    assert.deepEqual(asked, ['handover', 'listener'])
    const status = await statusOf(dir.path)
    assert.deepEqual([status.port, status.health.status], [port, 'ok'])
  } finally {
    child.kill('SIGKILL')
  }
})

test('a dashboard: what a control socket says is a status or none, and never ends who asked', async () => {
  await using place = await makeWorkplace()
  const whole = new FakeGateway('aaaa').status()
  let said = ''
  await using server = await listenAt(join(place.folder, 'gateway.sock'), (res) => res.end(said))
  assert.ok(server.listening)
  const client = new ControlClient(place.folder)
  for (const damage of ['junk', 'cut', 'older'] as const) {
    for (said of damagedTexts(whole, damage, each)) {
      await assert.rejects(client.status(), /another program answers, not a gateway/, said)
    }
  }
  for (said of damagedTexts(whole, 'newer', each))
    assert.equal(typeof (await client.status()), 'object', said)
  const supervisor = place.supervisor()
  for (said of damagedTexts(whole, 'junk', 50)) {
    const { state, message } = await supervisor.status()
    assert.deepEqual(
      [state, /another program answers, not a gateway/.test(message ?? '')],
      ['unresponsive', true],
    )
  }
  for (const damage of ['junk', 'cut'] as const) {
    for (said of damagedTexts({ successor: { pid: 5 } }, damage, each)) {
      await assert.rejects(
        client.handOver({ command: [], args: [], env: {}, cwd: '', log_file: '', limit_ms: 1 }, 1000),
        /answer to the hand-over is not valid/,
        said,
      )
    }
  }
})

test('jobs: lines that are none change nothing, and the job ends as its true lines say', async () => {
  await using dir = await makeTempDir()
  const progress = { phase: 'fold', done: 1, total: 2 }
  const result = { before_bytes: 9, after_bytes: 8, folded_calls: 7, duration_ms: 6 }
  const synced = { added: 1, changed: 2, removed: 3, entries: 4, rejected: 5, not_modified: false }
  const days = [{ day: '2026-11-21', model: null, before_usd: null }]
  const kinds: readonly Damage[] = ['junk', 'cut', 'older']
  const lines = [progress, result, { result: synced }, { result: { days } }, { error: { code: 'x' } }]
    .flatMap((line) => kinds.flatMap((damage) => damagedTexts(line, damage, each)))
    .filter((line) => line !== '{}')
  const said = dir.file('said')
  const jobs = (last: object): Jobs => {
    writeFileSync(said, [...lines, JSON.stringify(last), ''].join('\n'))
    return new Jobs({
      command: [process.execPath, scriptAt('odd-job.ts'), said],
      db: dir.file('db'),
      env: process.env,
      clock: systemClock,
      pricingSource: 'x',
    })
  }
  const compress = jobs({ ...result, new_one: 1 })
  const seen: unknown[] = []
  compress.watch(() => seen.push(compress.last.compress?.progress ?? null))
  assert.equal((await compress.compress(90, false).result).folded_calls, 7)
  assert.deepEqual([seen.length, compress.last.compress?.progress], [2, null])

  const newer = jobs({ error: { code: 'of_a_newer_version', message: 'It is so.' } })
  await assert.rejects(newer.compress(90, false).result, (error) => {
    return error instanceof JobError && error.code === 'job_failed' && error.message === 'It is so.'
  })
  const syncing = jobs({ result: { ...synced, new_one: 1 } })
  assert.ok(syncing.startSync())
  assert.equal(syncing.sync?.state, 'running')
  await eventually('the sync to be over', () => syncing.sync === null)
})

test('the query process answers its questions, whatever else it is told', async () => {
  await using dir = await makeTempDir()
  const child = fork(scriptAt('../../src/query/query-worker.ts'), [dir.file('none.db')], {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    const question: ToQuery = { question: { kind: 'call', id: 1 }, nowMs: 0, budgetMs: 5000 }
    const replies: unknown[] = []
    child.on('message', (message) => {
      if (JSON.stringify(message).includes(formatCallId(7))) replies.push(message)
    })
    for (const damage of ['junk', 'cut', 'older'] as const) {
      for (const damaged of damagedTexts(question, damage, each)) {
        child.send(damaged)
        if (damage === 'older') child.send(JSON.parse(damaged))
        if (damaged === 'null') child.send(null as never)
      }
    }
    child.send({ ...question, question: { kind: 'call', id: 7 }, new_one: [] })
    await eventually('the answer', () => replies.length === 1)
    assert.match(JSON.stringify(replies[0]), /call_not_found/)
    assert.equal(child.exitCode, null)
  } finally {
    child.kill('SIGKILL')
  }
})

test('the feed of payloads: who follows it prints and passes on what is of the feed alone', () => {
  const record = {
    id: 'a',
    seq: 1,
    timestamp: '2026-11-21T06:00:00.000Z',
    direction: 'outgoing',
    method: 'POST',
    path: '/v1/x',
    status: 200,
    headers: {},
    body: 'hi',
    body_bytes: 2,
    truncated: false,
    model: 'm',
    stream: false,
    outcome: 'ok',
    failure_code: null,
    duration_ms: 1,
  }
  const started = { type: 'started', id: 'a', timestamp: record.timestamp, method: 'POST', path: '/v1/x' }
  const printed: string[] = []
  const printer = tailPrinter(
    { json: false, errors: false, model: [] },
    {
      clock: systemClock,
      print: (line) => void printed.push(line),
      warn: () => {},
      width: () => 80,
      color: false,
    },
    () => 'here',
  )
  const told: string[] = []
  let listener: FeedListener | undefined
  const topic = payloadTopic({
    follow: (to: FeedListener) => {
      listener = to
      return () => {}
    },
  } as never)
  topic.subscribe({ send: (json) => told.push(json) > 0, whenRoom: () => {} })
  for (const message of [
    record,
    started,
    { type: 'connected', enabled: true },
    { type: 'dropped', count: 3 },
  ]) {
    for (const damage of damages) {
      for (const data of damagedTexts(message, damage, each)) {
        printer.take({ event: undefined, id: undefined, data })
        listener!.onEvent({ event: undefined, id: undefined, data })
      }
    }
  }
  assert.ok(told.every((json) => ['started', 'connected', 'dropped'].includes(JSON.parse(json).type)))
  assert.ok(told.length >= 3 * each)
  const before = printed.length
  printer.take({ event: null, id: '1', data: JSON.stringify({ ...record, new_one: 1 }) } as never)
  assert.ok(printed.length > before)
})

async function listenAt(
  path: string,
  answer: (res: ServerResponse) => void,
): Promise<Server & AsyncDisposable> {
  const server = createServer((req, res) => {
    req.resume().once('end', () => answer(res))
  })
  server.listen(path)
  await once(server, 'listening')
  return Object.assign(server, {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
