/** From a call to its cost, through the real gateway and dashboard: prices that are set and synced, and the past that only re-pricing changes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CostMatches, Costs } from '../../src/api/costs.ts'
import type { RepriceJob, RepriceResult } from '../../src/api/database-job.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { override, writePrices } from '../support/price-list.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { litellmList } from './litellm-list.ts'
import { startListServer } from './list-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const run = promisify(execFile)

async function eventually<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const found = await probe()
    if (found !== undefined) return found
    assert.ok(performance.now() < deadline, `waited in vain until ${what}`)
    await delay(50)
  }
}

/** What is asked of the dashboard. */
function asking(dashboard: DashboardProcess) {
  const json = async <T>(method: string, path: string, body?: unknown, status = 200): Promise<T> => {
    const answer = await dashboard.ask(method, path, body)
    const text = await answer.text()
    assert.equal(answer.status, status, `${method} ${path}: ${text}`)
    return JSON.parse(text) as T
  }
  const calls = async (): Promise<readonly CallJson[]> =>
    (await json<{ calls: readonly CallJson[] }>('GET', '/api/query')).calls.toReversed()
  return { json, calls }
}

test('a call gets its cost; prices that are set or synced count from the next call on; the past changes by re-pricing alone', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  await using lists = await startListServer()
  const host = upstream.origin.slice('http://'.length)
  const prices = dir.file('data/model_costs.json')
  mkdirSync(dir.file('data'))
  // Prices of lists are not meant for what runs on this machine, unless it is said so.
  writePrices(prices, { models: {}, upstreams: { [host]: { prefix: '', provider: 'openai' } } })
  const args = ['--upstream', upstream.baseUrl, '--pricing-source', `${lists.origin}/list.json`]
  await using dashboard = await startDashboardProcess({ directory: dir.path, args })
  const { json, calls } = asking(dashboard)
  await json('POST', '/api/proxy/start', {})
  const { port } = await dashboard.status()
  let made = 0
  /** Makes a call, and tells of it when it is recorded. */
  const call = async (model: string): Promise<CallJson> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await answer.text()
    assert.equal(answer.status, 200)
    made += 1
    const all = await eventually('the call is recorded', async () => {
      const found = await calls()
      return found.length === made ? found : undefined
    })
    const last = all.at(-1)
    assert.ok(last !== undefined)
    return last
  }
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const range = { from, to: new Date(Date.now() + 3_600_000).toISOString() }

  const first = await call('own-model')
  assert.deepEqual([first.cost_usd, first.price_key], [null, null])
  assert.ok(first.input_tokens !== null && first.output_tokens !== null)

  // One's own price counts for the next call; the one before keeps what it cost.
  await json('PUT', '/api/costs/overrides/own-model', { input: 100, output: 200 })
  const second = await call('own-model')
  const costAt = (input: number, output: number): number =>
    Math.round(1000 * (input * (first.input_tokens ?? 0) + output * (first.output_tokens ?? 0))) / 1e9
  assert.deepEqual(
    [second.cost_usd, second.price_source, second.price_key],
    [costAt(100, 200), 'user', 'own-model'],
  )
  assert.equal((await calls())[0]?.cost_usd, null)

  // A sync from a server: three thousand prices, one of them for a model that had none.
  const third = await call('model-0')
  assert.equal(third.cost_usd, null)
  const list = litellmList(3000, 1)
  lists.answer = (_, res) => void res.writeHead(200, { etag: '"1"' }).end(JSON.stringify(list))
  assert.deepEqual(await json('POST', '/api/costs/sync', undefined, 202), { status: 'started' })
  const synced = await eventually('the sync is over', async () => {
    const costs = await json<Costs>('GET', '/api/costs')
    return costs.sync.state === 'idle' && costs.sync.finished_at !== null ? costs : undefined
  })
  assert.deepEqual([synced.sync.last_error, synced.sync.added], [null, 3000])
  assert.deepEqual(Object.keys(synced.overrides), ['own-model'])
  const fourth = await call('model-0')
  assert.deepEqual([fourth.price_source, fourth.price_key], ['litellm', 'model-0'])
  assert.ok((fourth.cost_usd ?? 0) > 0)
  const marks = await json<{ events: readonly { kind: string }[] }>('GET', '/api/overview')
  assert.ok(marks.events.some(({ kind }) => kind === 'price_sync'))

  // A bad source changes nothing, and says so.
  lists.answer = (_, res) => void res.writeHead(200).end('<html>')
  await json('POST', '/api/costs/sync', undefined, 202)
  const failed = await eventually('the sync has failed', async () => {
    const { sync, models } = await json<Costs>('GET', '/api/costs')
    return sync.last_error === null ? undefined : { sync, models }
  })
  assert.match(
    failed.sync.last_error ?? '',
    /price list is not complete: it begins with "<html>", and is not JSON/,
  )
  assert.deepEqual(failed.models, synced.models)

  // What has no price is told with what it would cost now.
  const { matches } = await json<CostMatches>('GET', '/api/costs/matches')
  assert.deepEqual(
    new Map(
      matches.map(({ model, unpriced_calls, price }) => [
        model,
        [unpriced_calls, 'key' in price ? price.key : price.none],
      ]),
    ),
    new Map([
      ['own-model', [1, 'own-model']],
      ['model-0', [1, 'model-0']],
    ]),
  )
  const order = { ...range, only_unpriced: true }
  const dry = await json<RepriceResult>('POST', '/api/costs/reprice', { ...order, dry_run: true })
  assert.deepEqual([dry.calls, dry.newly_priced, dry.before_usd], [2, 2, null])
  assert.equal((await calls())[0]?.cost_usd, null)
  await json<RepriceJob>('POST', '/api/costs/reprice', order, 202)
  const repriced = await eventually('calls are priced anew', async () => {
    const all = await calls()
    return all.every(({ cost_usd }) => cost_usd !== null) ? all : undefined
  })
  assert.deepEqual(fieldsOf(repriced, 'cost_usd'), [
    second.cost_usd,
    second.cost_usd,
    fourth.cost_usd,
    fourth.cost_usd,
  ])
  type Grouped = { readonly summary: { readonly cost_usd: number; readonly unpriced_calls: number } }
  const { summary } = await json<Grouped>('GET', '/api/query?group_by=model')
  const nano = (usd: number | null): number => Math.round((usd ?? 0) * 1e9)
  assert.equal(nano(summary.cost_usd), 2 * nano(second.cost_usd) + 2 * nano(fourth.cost_usd))
  assert.equal(summary.unpriced_calls, 0)

  // From the command line, and from a file; a gateway that runs goes by it.
  writeFileSync(dir.file('list.json'), JSON.stringify({ ...list, 'from-file': list['model-0'] }))
  const database = ['--db', dir.file('data/llm_telemetry.db')]
  const sync = await run(process.execPath, [
    program,
    'costs',
    'sync',
    '--pricing-source',
    dir.file('list.json'),
    ...database,
  ])
  assert.match(sync.stdout, /3,001 prices: 1 new, 0 changed, 0 removed/)
  assert.equal((await call('from-file')).cost_usd, fourth.cost_usd)

  // A file that is broken by hand is told of in /health, and the last prices hold on.
  writeFileSync(prices, '{ "models": [')
  const gateway = `http://127.0.0.1:${port}`
  const health = async (): Promise<{
    readonly status: string
    readonly warnings?: readonly { code: string }[]
  }> => (await (await fetch(`${gateway}/health`)).json()) as never
  await eventually('it is told of', async () =>
    JSON.stringify(await health()).includes('prices_unreadable') ? true : undefined,
  )
  assert.equal((await call('model-0')).cost_usd, fourth.cost_usd)
  writePrices(prices, { models: {}, overrides: { 'own-model': override(1, 1) } })
  await eventually('it is mended', async () =>
    JSON.stringify(await health()).includes('prices_unreadable') ? undefined : true,
  )
  assert.equal((await call('own-model')).cost_usd, costAt(1, 1))
  assert.ok(existsSync(prices))
})
