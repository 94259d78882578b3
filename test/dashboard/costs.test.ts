import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { CostMatches, Costs, PriceEntry } from '../../src/api/costs.ts'
import type { SingleCall } from '../../src/api/single-call.ts'
import { formatCallId } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { priceFileOf } from '../../src/pricing/price-file.ts'
import { QueryProcess } from '../../src/query/query-process.ts'
import { spawnQuery } from '../../src/query/spawn-query.ts'
import { Jobs } from '../../src/supervisor/jobs.ts'
import { bareCall, chatCall, idAt, sampleStartMs } from '../store/sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { parseRecord } from '../support/json-record.ts'
import { override, somePrices, writePrices } from '../support/price-list.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { type DashboardUnderTest, errorOf, startDashboard } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { writeDatabase } from './query-database.ts'

const scriptedJob = fileURLToPath(new URL('scripted-job.ts', import.meta.url))

interface PricedDashboard extends AsyncDisposable {
  readonly dashboard: DashboardUnderTest
  readonly dir: TempDir
  readonly db: string
  readonly prices: string
  getJson<T>(target: string): Promise<T>
}

/** A dashboard with real prices and a real query process, whose jobs do and say what is written into a folder. */
async function startPriced(calls: readonly CallRecord[] = []): Promise<PricedDashboard> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  const db = dir.file('data/calls.db')
  mkdirSync(dirname(db))
  if (calls.length > 0) writeDatabase(db, { calls })
  const world = { env: process.env, clock: systemClock } as const
  const command = [process.execPath, scriptedJob, dir.path]
  const jobs = new Jobs({ ...world, command, db, pricingSource: 'https://example.com/list.json' })
  const queries = new QueryProcess({
    clock: systemClock,
    spawn: spawnQuery(db, {}),
    onFault: (error) => assert.fail(String(error)),
    deadlineMs: 60_000,
  })
  cleanup.defer(() => queries.close())
  const dashboard = cleanup.use(await startDashboard({ queries, jobs, priceFile: priceFileOf(db) }))
  const owned = cleanup.move()
  return {
    dashboard,
    dir,
    db,
    prices: priceFileOf(db),
    getJson: async <T>(target: string) => {
      const answer = await dashboard.ask('GET', target)
      assert.equal(answer.status, 200, answer.body.toString())
      return parseRecord(answer.body.toString()) as T
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const say = (dir: TempDir, ...lines: readonly string[]): void =>
  appendFileSync(dir.file('said'), lines.map((line) => `${line}\n`).join(''))

const asked = (dir: TempDir): readonly Record<string, unknown>[] =>
  existsSync(dir.file('asked'))
    ? readFileSync(dir.file('asked'), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => parseRecord(line))
    : []

test('the prices in force are told as their file has them, with what is wrong with it', async () => {
  await using priced = await startPriced()
  const { dashboard, prices } = priced
  const own = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`my/own-${n}`, override(n, 2)]))
  writePrices(prices, { overrides: own })
  const costs = await priced.getJson<Costs>('/api/costs')
  const ofTheFile = ({ models }: Costs): object =>
    Object.fromEntries(Object.entries(models).filter(([name]) => name in somePrices))
  assert.deepEqual(ofTheFile(costs), somePrices)
  // The list that came with the program is still beneath the file, as nobody has synced.
  assert.ok(Object.keys(costs.models).length > 500)
  assert.deepEqual(costs.overrides, own)
  assert.deepEqual([costs.problem, costs.sync.state], [null, 'idle'])

  const packed = await dashboard.ask('GET', '/api/costs', { headers: [['Accept-Encoding', 'gzip']] })
  assert.deepEqual(parseRecord(gunzipSync(packed.body).toString()), costs)
  const headers = [['If-None-Match', packed.header('etag') ?? '']] as const
  assert.equal((await dashboard.ask('GET', '/api/costs', { headers })).status, 304)

  writeFileSync(prices, '{\n  "models": {,}\n}')
  const broken = await priced.getJson<Costs>('/api/costs')
  assert.deepEqual(broken.models, costs.models)
  assert.deepEqual([broken.problem?.line, broken.problem?.column], [2, 14])
  writePrices(prices, { models: {} })
  const shipped = await priced.getJson<Costs>('/api/costs')
  assert.notDeepEqual(shipped.models['gpt-5.1-mini'], somePrices['gpt-5.1-mini'])
  assert.equal(shipped.models['rerank-v3.5']?.source === 'litellm', false)
  assert.equal(shipped.problem, null)
})

test('a price of one’s own is set, counts among the prices, and is taken away', async () => {
  await using priced = await startPriced()
  const { dashboard, prices } = priced
  const target = `/api/costs/overrides/${encodeURIComponent('127.0.0.1:8080/qwen3-8b-q4.gguf')}`
  assert.deepEqual((await priced.getJson<Costs>('/api/costs')).overrides, {})
  const set = await dashboard.askJson('PUT', target, {
    input: 0.15,
    output: '0.6',
    cache_read: 0.07500000001,
    per_request: 0.01,
  })
  assert.equal(set.status, 200, set.body.toString())
  const entry = parseRecord(set.body.toString()) as unknown as PriceEntry
  assert.equal(entry.source, 'user')
  assert.deepEqual(entry.prices, [
    {
      effective_from: null,
      tiers: [{ above_input_tokens: 0, input: 0.15, output: 0.6, cache_read: 0.075, per_request: 0.01 }],
    },
  ])
  const costs = await priced.getJson<Costs>('/api/costs')
  assert.deepEqual(costs.overrides, { '127.0.0.1:8080/qwen3-8b-q4.gguf': entry })
  assert.equal(statSync(prices).mode & 0o777, 0o600)
  // What came with the program is there still, now in the file.
  assert.ok(Object.keys(costs.models).length > 500)

  const removed = await dashboard.ask('DELETE', target)
  assert.deepEqual(parseRecord(removed.body.toString()), { removed: '127.0.0.1:8080/qwen3-8b-q4.gguf' })
  assert.deepEqual((await priced.getJson<Costs>('/api/costs')).overrides, {})
  const again = await dashboard.ask('DELETE', target)
  assert.deepEqual([again.status, errorOf(again).code], [404, 'price_not_found'])
})

test('a price that cannot be is refused by name, with what is allowed and what was got', async () => {
  await using priced = await startPriced()
  const { dashboard, prices } = priced
  writePrices(prices)
  const before = readFileSync(prices)
  const wrong: readonly (readonly [body: unknown, param: string | null, message: RegExp])[] = [
    [{}, 'input', /^input must be given, in USD per million tokens; 0 if nothing is billed\.$/],
    [{ input: 1 }, 'output', /^output must be given/],
    [{ input: 1, output: null }, 'output', /it is null/],
    [{ input: 'free', output: 1 }, 'input', /it is "free"/],
    [{ input: 1, output: 1001 }, 'output', /it is 1001/],
    [{ input: 1, output: 1, per_request: 5000 }, 'per_request', /\(USD each\); it is 5000/],
    [{ input: 1, output: 1, effective_from: 5 }, 'effective_from', /a day such as.*; it is 5/],
    [{ input: -1, output: 1 }, 'input', /a number from 0 to 1,000 \(USD per million tokens\); it is -1/],
    [{ input: 1, output: '2,5' }, 'output', /it is "2,5"/],
    [{ input: 1, outptu: 1 }, 'outptu', /known are input, output/],
    [{ input: 1, output: 1, effective_from: 'yesterday' }, 'effective_from', /it is "yesterday"/],
    [[], null, /an object; it is an empty list/],
    ['text', null, /an object; it is "text"/],
  ]
  for (const [body, param, message] of wrong) {
    const answer = await dashboard.askJson('PUT', '/api/costs/overrides/a', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    const error = errorOf(answer)
    assert.deepEqual([error.code, 'param' in error ? error.param : ''], ['invalid_price', param])
    assert.match(error.message, message)
  }
  const long = await dashboard.askJson('PUT', `/api/costs/overrides/${'a'.repeat(600)}`, {
    input: 1,
    output: 1,
  })
  assert.equal(long.status, 400)
  assert.equal((await dashboard.ask('PUT', '/api/costs/overrides/a')).status, 400)
  assert.ok(readFileSync(prices).equals(before))

  writeFileSync(prices, '{\n oops')
  const broken = await dashboard.askJson('PUT', '/api/costs/overrides/a', { input: 1, output: 1 })
  assert.deepEqual([broken.status, errorOf(broken).code], [409, 'broken_price_file'])
  assert.match(errorOf(broken).message, /line 2/)
  assert.equal(readFileSync(prices, 'utf8'), '{\n oops')
  assert.deepEqual(dashboard.faults, [])
})

test('a sync runs by itself, one at a time, and tells how it went', async () => {
  await using priced = await startPriced()
  const { dashboard, dir } = priced
  writePrices(priced.prices)
  const syncState = async (): Promise<Costs['sync']> => (await priced.getJson<Costs>('/api/costs')).sync
  const first = await dashboard.ask('POST', '/api/costs/sync')
  assert.deepEqual([first.status, parseRecord(first.body.toString())], [202, { status: 'started' }])
  const second = await dashboard.ask('POST', '/api/costs/sync')
  assert.deepEqual([second.status, errorOf(second).code], [409, 'sync_running'])
  assert.equal((await syncState()).state, 'running')
  await eventually('it is asked', () => asked(dir).length === 1)
  assert.deepEqual(asked(dir)[0]?.['args'], [
    'costs',
    'sync',
    '--json',
    '--pricing-source=https://example.com/list.json',
    `--db=${priced.db}`,
  ])
  say(dir, '{"error":{"code":"sync_failed","message":"The list has no prices."}}', 'exit 1')
  let state = await syncState()
  await eventually('it to be over', async () => (state = await syncState()).state === 'idle')
  assert.equal(state.last_error, 'The list has no prices.')
  assert.ok(state.started_at !== null && state.finished_at !== null)
  // The next one may begin.
  assert.equal((await dashboard.ask('POST', '/api/costs/sync')).status, 202)
})

const range = { from: '2026-11-01T00:00:00Z', to: '2026-11-21T00:00:00+01:00' }
const result = {
  calls: 2,
  before_usd: null,
  after_usd: 0.5,
  newly_priced: 2,
  newly_unpriced: 0,
  days: [],
  looked_calls: 3,
  reported_calls: 1,
  duration_ms: 4,
}

test('re-pricing is looked at first, then done as a job that the events tell of', async () => {
  await using priced = await startPriced()
  const { dashboard, dir, db } = priced
  using events = await openEvents(dashboard.port, 'jobs')
  say(dir, JSON.stringify({ result }), 'exit 0')
  const order = { ...range, model: 'a b', only_unpriced: true, tz: 'Europe/Berlin' }
  const dry = await dashboard.askJson('POST', '/api/costs/reprice', { ...order, dry_run: true })
  assert.deepEqual([dry.status, parseRecord(dry.body.toString())], [200, result])
  assert.deepEqual(asked(dir)[0]?.['args'], [
    'db',
    'reprice',
    '--json',
    '--from=2026-11-01T00:00:00.000Z',
    '--to=2026-11-20T23:00:00.000Z',
    '--tz=Europe/Berlin',
    '--model=a b',
    '--only-unpriced',
    `--db=${db}`,
    '--dry-run',
  ])
  writeFileSync(dir.file('said'), '{"progress":{"done":1,"total":3}}\n')
  const begun = await dashboard.askJson('POST', '/api/costs/reprice', range)
  assert.equal(begun.status, 202)
  const job = parseRecord(begun.body.toString())
  assert.deepEqual([job['job'], job['state'], job['progress']], ['reprice', 'running', { done: 1, total: 3 }])
  const second = await dashboard.askJson('POST', '/api/costs/reprice', range)
  assert.deepEqual([second.status, errorOf(second).code], [409, 'job_running'])
  say(dir, JSON.stringify({ result }), 'exit 0')
  const last = await events.until(
    () => events.events.find(({ data }) => JSON.stringify(data).includes('"state":"done"')),
    'the end of the job',
  )
  assert.deepEqual(last.data, { compress: null, reprice: { ...job, state: 'done', result } })
})

test('a re-pricing that cannot be is refused', async () => {
  await using priced = await startPriced()
  const { dashboard, dir } = priced
  const wrong: readonly (readonly [body: unknown, code: string, param: string | null])[] = [
    [{}, 'invalid_body', null],
    [{ ...range, from: 'yesterday' }, 'invalid_parameter', 'from'],
    [{ ...range, from: range.to }, 'invalid_parameter', 'to'],
    [{ ...range, tz: 'Nowhere/City' }, 'invalid_parameter', 'tz'],
    [{ ...range, model: '' }, 'invalid_body', 'model'],
    [{ ...range, dry_run: 'yes' }, 'invalid_body', 'dry_run'],
    [{ ...range, db: 'x' }, 'invalid_body', null],
  ]
  for (const [body, code, param] of wrong) {
    const answer = await dashboard.askJson('POST', '/api/costs/reprice', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    const error = errorOf(answer)
    assert.equal(error.code, code)
    if (param !== null) assert.deepEqual('param' in error ? error.param : '', param)
  }
  assert.deepEqual(asked(dir), [])
  say(dir, '{"error":{"code":"folded_range","message":"Calls before …"}}', 'exit 1')
  for (const dry_run of [true, false]) {
    const folded = await dashboard.askJson('POST', '/api/costs/reprice', { ...range, dry_run })
    assert.deepEqual([folded.status, errorOf(folded).code], [409, 'folded_range'])
  }
  assert.deepEqual(dashboard.faults, [])
})

test('calls are told by who answered them, with the price that is in force now', async () => {
  const at = (ms: number, parts: Partial<CallRecord>): CallRecord => ({
    ...chatCall(idAt(ms)),
    ...parts,
  })
  const none = { costNanoUsd: null, priceSource: null, priceKey: null } as const
  const local = { upstream: '127.0.0.1:8080', model: 'qwen', responseModel: 'qwen3.gguf', ...none }
  const calls = [
    at(0, {}),
    at(1, {}),
    at(2, none),
    at(3, local),
    { ...bareCall(idAt(4)), model: 'gpt-5.1-mini' },
    at(5, { model: 'dear', responseModel: null, upstream: 'example.com', ...none }),
    at(9000, {}),
  ]
  await using priced = await startPriced(calls)
  writePrices(priced.prices)
  const from = new Date(sampleStartMs).toISOString()
  const to = new Date(sampleStartMs + 9000).toISOString()
  const answer = await priced.getJson<CostMatches>(`/api/costs/matches?from=${from}&to=${to}`)
  const tokens = { input_tokens: 1204, output_tokens: 165 }
  assert.deepEqual([answer.from, answer.to], [from, to])
  assert.deepEqual(answer.matches, [
    {
      upstream: 'api.openai.com',
      model: 'gpt-5.1-mini',
      response_model: 'gpt-5.1-mini-2026-08-01',
      calls: 3,
      unpriced_calls: 1,
      input_tokens: 3 * 1204,
      output_tokens: 3 * 165,
      cost_usd: 0.000825,
      price: {
        key: 'gpt-5.1-mini',
        source: 'litellm',
        effective_from: null,
        updated_at: null,
        tiers: [{ above_input_tokens: 0, input: 0.25, output: 2, cache_read: 0.025 }],
      },
    },
    {
      upstream: '127.0.0.1:8080',
      model: 'qwen',
      response_model: 'qwen3.gguf',
      calls: 1,
      unpriced_calls: 1,
      ...tokens,
      cost_usd: null,
      price: { none: 'local' },
    },
    {
      upstream: 'example.com',
      model: 'dear',
      response_model: null,
      calls: 1,
      unpriced_calls: 1,
      ...tokens,
      cost_usd: null,
      price: { none: 'unknown_upstream' },
    },
  ])
  const whole = await priced.getJson<CostMatches>('/api/costs/matches')
  assert.equal(whole.matches[0]?.calls, 4)
  const bad = await priced.dashboard.ask('GET', `/api/costs/matches?from=${to}&to=${from}`)
  assert.deepEqual([bad.status, errorOf(bad).code], [400, 'invalid_parameter'])
})

test('a changed price changes the parts of a call’s cost at once', async () => {
  const price = { priceSource: 'litellm', priceKey: 'gpt-5.1-mini', costNanoUsd: 400_600 } as const
  await using priced = await startPriced([{ ...chatCall(idAt(0)), ...price }])
  const isInParts = async (): Promise<boolean> => {
    const call = await priced.getJson<SingleCall>(`/api/calls/${formatCallId(idAt(0))}`)
    return call.cost_parts !== null
  }
  writePrices(priced.prices)
  assert.equal(await isInParts(), true)
  writePrices(priced.prices, { overrides: { 'gpt-5.1-mini': override(1, 1) } })
  assert.equal(await isInParts(), false)
})

test('without a database there is nothing to match, and the prices are told all the same', async () => {
  await using priced = await startPriced()
  const { matches } = await priced.getJson<CostMatches>('/api/costs/matches')
  assert.deepEqual(matches, [])
  assert.ok(Object.keys((await priced.getJson<Costs>('/api/costs')).models).length > 500)
})

test('another site can change nothing about prices, and each path says what it takes', async () => {
  await using priced = await startPriced()
  const { dashboard, dir, prices } = priced
  writePrices(prices)
  const before = readFileSync(prices)
  const operations = [
    ['PUT', '/api/costs/overrides/a', '{"input":1,"output":1}'],
    ['DELETE', '/api/costs/overrides/a', ''],
    ['POST', '/api/costs/sync', ''],
    ['POST', '/api/costs/reprice', JSON.stringify(range)],
  ] as const
  for (const [method, target, body] of operations) {
    const headers = [
      ['Content-Type', 'application/json'],
      ['Origin', 'https://evil.example'],
      ['Sec-Fetch-Site', 'cross-site'],
    ] as const
    const answer = await dashboard.ask(method, target, { headers, ...(body === '' ? {} : { body }) })
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'cross_site'], target)
    const plain = [['Content-Type', 'text/plain']] as const
    const simple = await dashboard.ask(method, target, { headers: plain, body: body === '' ? '{}' : body })
    assert.equal(simple.status, 415, target)
  }
  assert.ok(readFileSync(prices).equals(before))
  assert.deepEqual(asked(dir), [])
  const takes = [
    ['/api/costs', 'GET, HEAD'],
    ['/api/costs/matches', 'GET, HEAD'],
    ['/api/costs/overrides/a', 'PUT, DELETE'],
    ['/api/costs/sync', 'POST'],
    ['/api/costs/reprice', 'POST'],
  ] as const
  for (const [target, allow] of takes) {
    const answer = await dashboard.ask('PATCH', target)
    assert.deepEqual([answer.status, answer.header('allow')], [405, allow], target)
  }
})
