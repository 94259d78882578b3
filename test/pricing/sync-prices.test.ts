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
import { asked } from './sample-costs.ts'
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
    const price = book.price(asked('api.openai.com', name, { startedAtMs }))
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
  assert.equal(server.seen.join(' '), '/, /,"one" /,"two"')
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

/** All prices of the list, so many times as high. */
const timesPrice = (factor: number): string =>
  JSON.stringify(list, (name, value: unknown) =>
    typeof value === 'number' && name.includes('_cost_per_') ? value * factor : value,
  )

const says =
  (body: string | Buffer, headers?: Readonly<Record<string, string>>): ListServer['answer'] =>
  (_, res) =>
    json(res, body, headers)
const head =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): ListServer['answer'] =>
  (_, res) =>
    void res.writeHead(status, headers).end(body)
const breaks: ListServer['answer'] = (_, res) => {
  res.writeHead(200, { 'content-length': '100000' }).write(listText.slice(0, 5000))
  setTimeout(() => res.destroy(), 20)
}
const neverEnds: ListServer['answer'] = (_, res) => {
  const more = setInterval(() => res.write(' '), 10)
  res.once('close', () => clearInterval(more))
}
const spaced = `${listText}${' '.repeat(1_000_000)}`
const withNaN = listText.replace(/"input_cost_per_token":[^,]+/, '"input_cost_per_token":NaN')
const gzip = { 'content-encoding': 'gzip' }

/** What a server answers, or another source; what is not there whole after some time is given up. */
const badSources: readonly [
  what: string,
  source: ListServer['answer'] | string,
  words: RegExp,
  timeoutMs?: number,
][] = [
  ['a page', says('<!DOCTYPE html><html><body>Sign in'), /begins with "<!DOCTYPE html>/],
  ['half a list', says(listText.slice(0, -5000)), /price list is not complete/],
  ['a connection that breaks', breaks, /cannot be fetched/],
  ['nothing for ever', () => undefined, /did not arrive completely within 0\.5 s/, 500],
  ['a list that never ends', neverEnds, /did not arrive completely within/, 500],
  ['NaN', says(withNaN), /is not JSON/],
  ['prices that are 100,000 times too high', says(timesPrice(1e5)), /out of bounds|as high or as low/],
  ['prices of zero', says(timesPrice(0)), /prices were left as they are/],
  ['404', head(404, {}, listText), /answered 404/],
  ['an error', head(500), /answered 500/],
  ['no content', head(204), /answered 204|is empty/],
  ['another coding than it says', says(listText, gzip), /cannot be fetched/],
  ['a coding that is not said', says(gzipSync(listText)), /UTF-8/],
  ['another character set', says(Buffer.from(listText, 'utf16le')), /UTF-8|not JSON/],
  ['a circle', head(301, { location: '/' }), /more than 3 times/],
  ['a way to a file', head(301, { location: 'file:///etc/passwd' }), /is not followed/],
  ['too much', says(spaced), /larger than 1 MB/],
  // A thousandth of what it holds.
  ['too much in a small parcel', says(gzipSync(Buffer.alloc(20_000_000, ' ')), gzip), /larger than 1 MB/],
  ['an empty list', says('{}'), /has no prices/],
  ['JSON of another form', says('[1,2,3]'), /another form/],
  ['nothing', says(''), /it is empty/],
  ['half as many prices', says(JSON.stringify(litellmList(150, 1))), /has 150 prices; it had 300/],
  ['a port where nobody listens', 'http://127.0.0.1:9/list.json', /cannot be fetched/],
  ['a file that is not there', '/nowhere/list.json', /cannot be fetched: there is no such file or folder/],
]

test('of a source that is no good nothing is taken, and it is said why', async () => {
  await using dir = await makeTempDir()
  await using server = await startListServer()
  const path = dir.file('model_costs.json')
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  server.answer = (_, res) => json(res, listText)
  await sync(path, server.origin)
  const before = readFileSync(path)
  for (const [what, source, words, timeoutMs] of badSources) {
    if (typeof source !== 'string') server.answer = source
    const synced = sync(path, typeof source === 'string' ? source : server.origin, times[1], timeoutMs)
    await assert.rejects(synced, (error: unknown) => {
      assert.ok(error instanceof PriceListError, `${what}: ${String(error)}`)
      assert.match(error.message, words, what)
      return true
    })
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
  assert.equal(readdirSync(dir.path).toSorted().join(' '), 'model_costs.json model_costs.json.lock one.json')
  assert.deepEqual(costsIn(path).overrides, { 'my/own': override(1, 2) })
})

test('of two at once, and one that sets a price meanwhile, nothing is lost', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('model_costs.json')
  writeFileSync(dir.file('one.json'), listText)
  writePrices(path, { models: {}, overrides: { 'my/own': override(1, 2) } })
  const reports = await Promise.all([sync(path, dir.file('one.json')), sync(path, dir.file('one.json'))])
  assert.deepEqual(new Set(reports.map(({ added }) => added)), new Set([0, 300]))
  assert.deepEqual(costsIn(path).overrides, { 'my/own': override(1, 2) })
})
