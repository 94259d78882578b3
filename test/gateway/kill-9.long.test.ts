import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallJson } from '../../src/call/call-record.ts'
import { assertWithin, timesCount } from '../support/assert-within.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { untilNoted } from '../support/open-calls.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { stall } from '../support/reply-step.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { valueIn } from '../store/rows-of.ts'

const rounds = timesCount ? 100 : 3
/** 100 ms is promised on a machine that is not busy with other tests. */
const lossLimitMs = timesCount ? 100 : 5000
/** An open call is noted at the second tick after its beginning. */
const untracedLimitMs = timesCount ? 1.5 * lossLimitMs : lossLimitMs

test(`${rounds} times kill -9 under load: each call that stays open has its one row, the file sound, the budget right`, async (context) => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream({ model: { gapMs: 2 } })
  for (let round = 0; round < rounds; round++) {
    const figures = await killRound(upstream, dir.path, round)
    context.diagnostic(JSON.stringify(figures))
    assert.ok(figures.finished >= 60)
    assert.ok(figures.lostMs <= lossLimitMs, `calls finished ${figures.lostMs} ms before the kill were lost`)
    assert.ok(figures.untracedMs <= untracedLimitMs, `calls of ${figures.untracedMs} ms before left no trace`)
    assertWithin(2000, figures.healthMs, 'the start until /health answered')
  }
})

/** What one `kill -9` under load came to. */
interface KillFigures {
  /** Calls whose request reached the upstream, but the one that stays open. */
  readonly reached: number
  /** Calls whose client had the whole answer before the kill. */
  readonly finished: number
  /** Rows that the next start wrote for calls that were not finished, or not yet written. */
  readonly interrupted: number
  /** The longest time before the kill at which a call finished whose row was lost; 0 where none was. */
  readonly lostMs: number
  /** The same of calls that left no trace, by the time at which they began or finished. */
  readonly untracedMs: number
  /** The first answer of `/health` after the new start, from the line that says that it listens. */
  readonly healthMs: number
}

const workers = 24
/** So many calls are finished before the clock of the kill starts. */
const callsBeforeKill = 60
const longestWaitMs = 400
const random = seededRandom(1)

/**
 * Lets a gateway work on streams and JSON calls, kills it at a random instant, starts it again on the same
 * files, and checks what it knows. `sessions` of the rows begin with `round`, which tells the rounds apart.
 */
async function killRound(
  upstream: SimulatedUpstream,
  directory: string,
  round: number,
): Promise<KillFigures> {
  const options = { upstream: upstream.baseUrl, directory, args: ['--max-concurrent', String(workers)] }
  const finishedAtMs = new Map<string, number>()
  const begunAtMs = new Map<string, number>()
  const reachedBefore = upstream.requests.length + 1
  let killedAtMs: number
  {
    await using gateway = await startGatewayProcess(options)
    upstream.replyOnce([stall()])
    const held = call(gateway, `${round}-held`, false).catch(() => undefined)
    await untilNoted(gateway.databaseFile, 1)
    const load = new Load(gateway, round, begunAtMs, finishedAtMs)
    await load.waitForFinished(callsBeforeKill)
    await delay(random() * longestWaitMs)
    killedAtMs = performance.now()
    await gateway.kill9()
    await load.stop()
    await held
  }
  const reached = upstream.requests
    .slice(reachedBefore)
    .map(({ target }) => /call=([\d-]+)/.exec(target)![1]!)
  assert.equal(new Set(reached).size, reached.length, 'a call was sent twice')

  await using next = await startGatewayProcess(options)
  const startedAtMs = performance.now()
  await next.health()
  const healthMs = performance.now() - startedAtMs
  await untilHealth(next, 'it is well', ({ status }) => status === 'ok')
  await untilNoted(next.databaseFile, 0)
  const rows = rowsBySession(next.databaseFile)
  assert.equal(rows.get(`${round}-held`)?.outcome, 'interrupted')
  assert.equal(valueIn(next.databaseFile, 'PRAGMA integrity_check'), 'ok')
  await untilBudget(next, tokensOf([...rows.values()]))

  let [lostMs, untracedMs] = [0, 0]
  for (const session of reached) {
    const finishedMs = finishedAtMs.get(session)
    const outcome = rows.get(session)?.outcome
    if (outcome === 'ok') continue
    const lastMs = finishedMs ?? begunAtMs.get(session) ?? 0
    if (outcome === undefined) untracedMs = Math.max(untracedMs, killedAtMs - lastMs)
    else assert.equal(outcome, 'interrupted', session)
    if (finishedMs !== undefined) lostMs = Math.max(lostMs, killedAtMs - finishedMs)
  }
  const interrupted = reached.filter((session) => rows.get(session)?.outcome === 'interrupted').length
  assert.deepEqual(await next.stop(), { code: 0, signal: null })
  const finished = finishedAtMs.size
  return { reached: reached.length, finished, interrupted, lostMs, untracedMs, healthMs }
}

/** Clients that call without pause, streams and JSON in turn. */
class Load {
  readonly #gateway: GatewayProcess
  readonly #round: number
  readonly #begunAtMs: Map<string, number>
  readonly #finishedAtMs: Map<string, number>
  readonly #workers: Promise<void>[]
  readonly #stop = new AbortController()
  #calls = 0
  #enough: { readonly count: number; readonly reached: () => void } | null = null

  constructor(
    gateway: GatewayProcess,
    round: number,
    begunAtMs: Map<string, number>,
    finishedAtMs: Map<string, number>,
  ) {
    this.#gateway = gateway
    this.#round = round
    this.#begunAtMs = begunAtMs
    this.#finishedAtMs = finishedAtMs
    this.#workers = Array.from({ length: workers }, (_, index) => this.#work(index % 2 === 0))
  }

  waitForFinished(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#enough = { count, reached: resolve }
    })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#workers)
  }

  async #work(stream: boolean): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const session = `${this.#round}-${this.#calls++}`
      try {
        this.#begunAtMs.set(session, performance.now())
        await call(this.#gateway, session, stream, this.#stop.signal)
      } catch {
        return // The gateway is gone: what had to come has come.
      }
      this.#finishedAtMs.set(session, performance.now())
      if (this.#finishedAtMs.size >= (this.#enough?.count ?? Infinity)) this.#enough?.reached()
    }
  }
}

async function call(
  gateway: GatewayProcess,
  session: string,
  stream: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions?call=${session}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tokenweir-session': session },
    body: JSON.stringify({
      model: 'm',
      stream,
      stream_options: { include_usage: stream },
      messages: [],
    }),
    ...(signal === undefined ? {} : { signal }),
  })
  await response.text()
}

/** Fails where a call has two. */
function rowsBySession(databaseFile: string): ReadonlyMap<string, CallJson> {
  const calls = readCalls(databaseFile)
  const rows = new Map(calls.map((row) => [row.session ?? '', row]))
  assert.equal(rows.size, calls.length, 'a call has two rows')
  return rows
}

async function untilBudget(gateway: GatewayProcess, tokens: number): Promise<void> {
  await untilHealth(gateway, `the budget counts ${tokens} tokens`, (health) => {
    const { total_used: used, estimated } = asRecord(health['token_budget'])
    return Number(used) - Number(estimated) === tokens
  })
}

function tokensOf(rows: readonly CallJson[]): number {
  return rows.reduce((sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0), 0)
}
