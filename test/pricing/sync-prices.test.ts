/** Prices are brought up to date, or stay to the byte as they were, whatever the source does and whenever the process ends. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { PriceListError } from '../../src/pricing/price-list.ts'
import { PriceBook } from '../../src/pricing/price-book.ts'
import { readPriceFile } from '../../src/pricing/price-file.ts'
import type { ModelCosts } from '../../src/pricing/model-costs.ts'
import type { SyncResult } from '../../src/api/costs.ts'
import { syncPrices } from '../../src/pricing/sync-prices.ts'
import { override, writePrices } from '../support/price-list.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { litellmList } from './litellm-list.ts'
import { type ListServer, startListServer } from './list-server.ts'

const list = litellmList(300, 1)
const listText = JSON.stringify(list)
const times = [Date.UTC(2026, 10, 21, 4), Date.UTC(2026, 10, 22, 4), Date.UTC(2026, 10, 23, 4)] as const

const json = (
  res: ServerResponse,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void => void res.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body)

function sync(
  path: string,
  source: string,
  nowMs: number = times[0],
  timeoutMs = 60_000,
): Promise<SyncResult> {
  const bounds = { timeoutMs, maxBytes: 1_000_000, maxRedirects: 3 }
  return syncPrices(path, { source, wallTime: () => nowMs, bounds })
}

function costsIn(path: string): ModelCosts {
  const reading = readPriceFile(path)
  assert.ok('costs' in reading && reading.costs !== null, JSON.stringify(reading))
  return reading.costs
}

test('a list is taken from a server: three thousand entries, then what changed, then nothing new', async () => {
  await using dir = await makeTempDir()
  await using server = await startListServer()
  const path = dir.file('model_costs.json')
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  const large = litellmList(3000, 2)
  const text = JSON.stringify(large)
  server.answer = (_, res) => json(res, gzipSync(text), { etag: '"one"', 'content-encoding': 'gzip' })
  const bounds = { timeoutMs: 60_000, maxBytes: 8_000_000, maxRedirects: 3 }
  const first = await syncPrices(path, { source: server.origin, wallTime: () => times[0], bounds })
  assert.deepEqual([first.added, first.changed, first.removed, first.not_modified], [3000, 0, 0, false])
  const taken = costsIn(path)
  assert.equal(taken.synced_at, '2026-11-21T04:00:00.000Z')
  assert.deepEqual(taken.overrides, { 'my/own': override(1, 2) })
  assert.equal(taken.source?.etag, '"one"')
  assert.equal(statSync(path).mode & 0o777, 0o600)

  // One price is another: a new period from then on.
  const name = 'model-0'
  const dearer = { ...large, [name]: { ...large[name], input_cost_per_token: 9e-6 } }
  server.answer = (_, res) => json(res, JSON.stringify(dearer), { etag: '"two"' })
  const second = await syncPrices(path, { source: server.origin, wallTime: () => times[1], bounds })
  assert.deepEqual([second.added, second.changed, second.removed], [0, 1, 0])
  const book = new PriceBook(costsIn(path))
  const priceAt = (startedAtMs: number): number | null | undefined => {
    const price = book.price({
      upstream: 'api.openai.com',
      model: name,
      responseModel: null,
      serviceTier: null,
      startedAtMs,
    })
    return 'none' in price ? null : price.match.tiers[0]?.input
  }
  assert.deepEqual(
    [priceAt(times[0]) === 9, priceAt(times[1] - 1) === 9, priceAt(times[1])],
    [false, false, 9],
  )

  // The server knows the tag again, and says that there is nothing new.
  server.answer = (_, res) => void res.writeHead(304).end()
  const third = await syncPrices(path, { source: server.origin, wallTime: () => times[2], bounds })
  assert.deepEqual([third.not_modified, third.entries], [true, 3000])
  assert.deepEqual(server.seen, [
    ['/', undefined],
    ['/', '"one"'],
    ['/', '"two"'],
  ])
  const after = costsIn(path)
  assert.equal(after.synced_at, '2026-11-23T04:00:00.000Z')
  assert.deepEqual([after.models, after.overrides], [book && costsIn(path).models, taken.overrides])
})

test('a list is taken from a file, and a few redirects are followed', async () => {
  await using dir = await makeTempDir()
  await using server = await startListServer()
  const path = dir.file('model_costs.json')
  writeFileSync(dir.file('list.json'), listText)
  writePrices(path, { models: {} })
  assert.equal((await sync(path, dir.file('list.json'))).added, 300)
  server.answer = (req, res) => {
    const step = Number(req.url?.slice(1))
    if (step < 3) res.writeHead(302, { location: `/${step + 1}` }).end()
    else json(res, listText)
  }
  assert.equal((await sync(path, `${server.origin}/0`)).entries, 300)
})

/** A thousandth of what it holds. */
const bomb = gzipSync(Buffer.alloc(20_000_000, ' '))

interface BadSource {
  readonly what: string
  readonly answer?: ListServer['answer']
  readonly path?: string
  /** If it is not there whole until then, it is given up. */
  readonly timeoutMs?: number
  readonly says: RegExp
}

/** All prices of the list, so many times as high. */
const timesPrice = (factor: number): string =>
  JSON.stringify(list, (name, value: unknown) =>
    typeof value === 'number' && name.includes('_cost_per_') ? value * factor : value,
  )

const badSources: readonly BadSource[] = [
  {
    what: 'a page',
    answer: (_, res) => json(res, '<!DOCTYPE html><html><body>Sign in'),
    says: /begins with "<!DOCTYPE html>/,
  },
  {
    what: 'half a list',
    answer: (_, res) => json(res, listText.slice(0, -5000)),
    says: /not a complete price list/,
  },
  {
    what: 'a connection that breaks',
    answer: (_, res) => {
      res.writeHead(200, { 'content-length': '100000' }).write(listText.slice(0, 5000))
      setTimeout(() => res.destroy(), 20)
    },
    says: /cannot be fetched/,
  },
  {
    what: 'nothing for ever',
    answer: () => undefined,
    timeoutMs: 500,
    says: /did not arrive completely within 0\.5 s/,
  },
  {
    what: 'a list that never ends',
    answer: (_, res) => {
      const more = setInterval(() => res.write(' '), 10)
      res.once('close', () => clearInterval(more))
    },
    timeoutMs: 500,
    says: /did not arrive completely within/,
  },
  {
    what: 'NaN',
    answer: (_, res) =>
      json(res, listText.replace(/"input_cost_per_token":[^,]+/, '"input_cost_per_token":NaN')),
    says: /is not JSON/,
  },
  {
    what: 'prices that are 100,000 times too high',
    answer: (_, res) => json(res, timesPrice(1e5)),
    says: /out of bounds|as high or as low/,
  },
  {
    what: 'prices of zero',
    answer: (_, res) => json(res, timesPrice(0)),
    says: /prices were left as they are/,
  },
  { what: '404', answer: (_, res) => void res.writeHead(404).end(listText), says: /answered 404/ },
  { what: 'an error', answer: (_, res) => void res.writeHead(500).end(), says: /answered 500/ },
  { what: 'no content', answer: (_, res) => void res.writeHead(204).end(), says: /answered 204|is empty/ },
  {
    what: 'another coding than it says',
    answer: (_, res) => json(res, listText, { 'content-encoding': 'gzip' }),
    says: /cannot be fetched/,
  },
  { what: 'a coding that is not said', answer: (_, res) => json(res, gzipSync(listText)), says: /UTF-8/ },
  {
    what: 'another character set',
    answer: (_, res) => json(res, Buffer.from(listText, 'utf16le')),
    says: /UTF-8|not JSON/,
  },
  {
    what: 'a circle',
    answer: (_, res) => void res.writeHead(301, { location: '/' }).end(),
    says: /more than 3 times/,
  },
  {
    what: 'a way to a file',
    answer: (_, res) => void res.writeHead(301, { location: 'file:///etc/passwd' }).end(),
    says: /is not followed/,
  },
  {
    what: 'too much',
    answer: (_, res) => json(res, `${listText}${' '.repeat(1_000_000)}`),
    says: /larger than 1 MB/,
  },
  {
    what: 'too much in a small parcel',
    answer: (_, res) => json(res, bomb, { 'content-encoding': 'gzip' }),
    says: /larger than 1 MB/,
  },
  { what: 'an empty list', answer: (_, res) => json(res, '{}'), says: /has no prices/ },
  { what: 'JSON of another form', answer: (_, res) => json(res, '[1,2,3]'), says: /another form/ },
  { what: 'nothing', answer: (_, res) => json(res, ''), says: /it is empty/ },
  {
    what: 'half as many prices',
    answer: (_, res) => json(res, JSON.stringify(litellmList(150, 1))),
    says: /has 150 prices; it had 300/,
  },
  { what: 'a port where nobody listens', path: 'http://127.0.0.1:9/list.json', says: /cannot be fetched/ },
  {
    what: 'a file that is not there',
    path: '/nowhere/list.json',
    says: /cannot be fetched: there is no such file or folder/,
  },
]

test('of a source that is no good nothing is taken, and it is said why', async () => {
  await using dir = await makeTempDir()
  await using server = await startListServer()
  const path = dir.file('model_costs.json')
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  server.answer = (_, res) => json(res, listText)
  await sync(path, server.origin)
  const before = readFileSync(path)
  for (const { what, answer, path: source, timeoutMs, says } of badSources) {
    if (answer !== undefined) server.answer = answer
    await assert.rejects(
      sync(path, source ?? server.origin, times[1], timeoutMs),
      (error: unknown) => {
        assert.ok(error instanceof PriceListError, `${what}: ${String(error)}`)
        assert.match(error.message, says, what)
        return true
      },
      what,
    )
    assert.ok(readFileSync(path).equals(before), what)
    assert.deepEqual(readdirSync(dir.path), ['model_costs.json', 'model_costs.json.lock'], what)
  }
})

test('a price file that somebody got wrong is not written over', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  writeFileSync(path, '{\n "models": oops }\n')
  writeFileSync(dir.file('list.json'), listText)
  await assert.rejects(sync(path, dir.file('list.json')), /line 2, column \d+ must be fixed first/)
  assert.equal(readFileSync(path, 'utf8'), '{\n "models": oops }\n')
})

test('what a killed one left is cleared away, and nothing stands in the way of the next', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  writeFileSync(dir.file('one.json'), listText)
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  writeFileSync(`${path}.99999.new`, 'half')
  await sync(path, dir.file('one.json'), times[2])
  assert.deepEqual(readdirSync(dir.path).toSorted(), [
    'model_costs.json',
    'model_costs.json.lock',
    'one.json',
  ])
  assert.deepEqual(costsIn(path).overrides, { 'my/own': override(1, 2) })
})

test('of two at once, and one that sets a price meanwhile, nothing is lost', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  writeFileSync(dir.file('one.json'), listText)
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  const reports = await Promise.all([sync(path, dir.file('one.json')), sync(path, dir.file('one.json'))])
  assert.deepEqual(
    reports.map(({ added }) => added).toSorted((a, b) => a - b),
    [0, 300],
  )
  assert.deepEqual(costsIn(path).overrides, { 'my/own': override(1, 2) })
})
