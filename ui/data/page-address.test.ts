import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { changedAddress, orderOf } from './changed-address.ts'
import {
  type PageAddress,
  type View,
  isFiltered,
  defaultAddress,
  readAddress,
  withoutFilters,
  writeAddress,
} from './page-address.ts'
import { type LastRange, type Range, boundsOf, lastRanges, refreshEveryMs } from './page-range.ts'
import { callTabWords, callTypeWords, outcomeWords, sortWords } from './call-text.ts'

function read(text: string): PageAddress | null {
  const url = new URL(text, 'http://dashboard')
  return readAddress(url.pathname, url.searchParams)
}

/** Returns the keys of a table, typed. */
function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[]
}

const instants = fc.integer({ min: 0, max: 4_000_000_000_000 })
const ranges: fc.Arbitrary<Range> = fc.oneof(
  fc.constantFrom(...keysOf(lastRanges)).map((last) => ({ last })),
  fc
    .tuple(instants, instants)
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => ({ last: null, fromMs: Math.min(a, b), toMs: Math.max(a, b) })),
)
const texts = fc.uniqueArray(fc.string({ minLength: 1, unit: 'grapheme' }), { maxLength: 3 })
const some = <Value>(values: readonly Value[]): fc.Arbitrary<Value[]> => fc.subarray([...values])
const durations = fc.option(fc.integer({ min: 0, max: 999_999_999_999 }))
const views = 'overview compare calls sessions live costs gateway alerts settings'.split(' ') as View[]
const addresses: fc.Arbitrary<PageAddress> = fc.record(
  {
    view: fc.constantFrom(...views),
    range: ranges,
    models: texts,
    callTypes: some(keysOf(callTypeWords)),
    errorsOnly: fc.boolean(),
    outcomes: some(keysOf(outcomeWords)),
    failureCodes: texts,
    clients: texts,
    upstreams: texts,
    tags: texts.map((each) => each.map((text) => `key:${text}`)),
    statuses: fc.uniqueArray(fc.integer({ min: 100, max: 599 }).map(String), { maxLength: 3 }),
    minMs: durations,
    maxMs: durations,
    q: fc.string().map((text) => text.trim()),
    sort: fc.constantFrom(...keysOf(sortWords)),
    call: fc.option(fc.stringMatching(/^[0-9a-z]{11}$/)),
    tab: fc.constantFrom(...keysOf(callTabWords)),
    source: fc.option(fc.string({ minLength: 1, unit: 'grapheme' })),
    session: fc.option(fc.string({ minLength: 1, unit: 'grapheme' })),
    text: fc.string(),
    by: fc.constantFrom('model', 'client'),
    rising: fc.boolean(),
    measure: fc.constantFrom('duration_ms', 'ttft_ms'),
    order: fc.constantFrom('calls', 'cost'),
    lines: fc.uniqueArray(fc.string()),
    against: fc.constantFrom(null, 'previous' as const, 'day' as const, 'week' as const),
    price: fc.string(),
    priceOrder: fc.constantFrom(null, 'input' as const, 'spent' as const),
    priceRising: fc.boolean(),
    listRising: fc.boolean(),
    utc: fc.boolean(),
    ignored: fc.constant([]),
  },
  { noNullPrototype: true },
)

test('what is written is read back, but for what another view shows', () => {
  const { text, by, measure, order, rising, listRising, lines, against } = defaultAddress
  const { price: noPrice, priceOrder, priceRising } = defaultAddress
  const price = { price: noPrice, priceOrder, priceRising }
  const othersOf: Partial<Record<View, Partial<PageAddress>>> = {
    overview: { text, by, measure, order, rising, listRising, lines, ...price },
    calls: { text, by, measure, order, listRising, lines, against, ...price },
    compare: { text, listRising, against, ...price },
    costs: { text, measure, listRising, lines, against },
    live: { by, measure, order, rising, listRising, lines, against, ...price },
    sessions: { by, measure, lines, against, ...price },
  }
  const none = { text, by, measure, order, rising, listRising, lines, against, ...price }
  fc.assert(
    fc.property(addresses, (address) =>
      assert.deepEqual(read(writeAddress(address)), { ...address, ...(othersOf[address.view] ?? none) }),
    ),
  )
})

test('a day that was chosen is in the link, one that nobody chose is not', () => {
  assert.equal(writeAddress({ ...defaultAddress, range: { last: '24h' } }), '/?range=24h')
  assert.equal(writeAddress(read('/?range=24h')!), '/?range=24h')
})

test('Compare tells what it compares', () => {
  const path = '/compare?measure=ttft_ms&order=first_p95&line=a&line='
  const address = read(path)!
  assert.deepEqual(address.lines, ['a', ''])
  assert.equal(writeAddress(address), path)
  assert.equal(writeAddress({ ...address, view: 'calls' }), '/calls')
  assert.deepEqual(read('/calls?order=cost')?.ignored, ['order'])
})

test('another view, or another order, begins with the largest', () => {
  const compare = read('/compare?order=first_p95&rising=true&model=a')!
  const shown = (address: PageAddress, change: Partial<PageAddress>): string =>
    writeAddress(changedAddress(address, change))
  assert.equal(shown(compare, { order: 'cost' }), '/compare?model=a&order=cost')
  assert.equal(shown(compare, { models: [] }), '/compare?order=first_p95&rising=true')
  assert.equal(shown(compare, { view: 'sessions' }), '/sessions?model=a')
  assert.equal(shown(compare, { view: 'calls', sort: 'cost' }), '/calls?model=a&sort=cost')
  assert.equal(
    shown(read('/calls?rising=true')!, { sort: 'ttft', rising: true }),
    '/calls?sort=ttft&rising=true',
  )
  assert.deepEqual([orderOf('sessions', compare), orderOf('compare', compare)], ['last_at', 'first_p95'])
})

test('a bare address says nothing', () => {
  assert.deepEqual(read('/'), defaultAddress)
  assert.equal(writeAddress(defaultAddress), '/')
  assert.equal(writeAddress({ ...defaultAddress, view: 'calls' }), '/calls')
})

test('addresses read as people would write them', () => {
  const address: PageAddress = {
    ...defaultAddress,
    view: 'calls',
    range: { last: null, fromMs: Date.UTC(2026, 10, 21), toMs: Date.UTC(2026, 10, 21, 1, 30) },
    models: ['z-ai/glm-4.7'],
    errorsOnly: true,
    sort: 'duration',
  }
  assert.equal(
    writeAddress(address),
    '/calls?from=2026-11-21T00:00:00Z&to=2026-11-21T01:30:00Z&model=z-ai/glm-4.7&errors_only=true&sort=duration',
  )
})

test('what means nothing is left out and named', () => {
  const cases: readonly (readonly [query: string, ignored: readonly string[]])[] = [
    ['range=2h', ['range']],
    ['range=constructor', ['range']],
    ['foo=1&foo=2', ['foo']],
    ['__proto__=1', ['__proto__']],
    ['call_type=chat&call_type=poem', ['call_type']],
    ['outcome=toString', ['outcome']],
    ['min_ms=-1&max_ms=1e3', ['min_ms', 'max_ms']],
    ['call=short', ['call']],
    ['tz=Europe/Berlin', ['tz']],
    ['status=429&status=599', []],
    ['status=600', ['status']],
    ['sort=model', ['sort']],
    ['errors_only=maybe', ['errors_only']],
    ['model=', ['model']],
    ['from=2026-11-21T00:00:00Z', ['from']],
    ['from=2026-11-21T00:00:00&to=2026-11-22T00:00:00', ['from', 'to']],
    ['from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00Z', ['from', 'to']],
    ['from=2026-11-21T00:00:00%2B01:00&to=2026-11-21T00:00:00Z', []],
  ]
  for (const [query, ignored] of cases) assert.deepEqual(read(`/calls?${query}`)?.ignored, ignored, query)
  assert.equal(read('/elsewhere'), null)
})

test('a filter given twice is one', () => {
  assert.deepEqual(read('/?model=a&model=b&model=a')?.models, ['a', 'b'])
})

test('filters can be told and taken away', () => {
  const filtered = read('/calls?model=a&range=1h&call=0123456789a&tz=utc')
  assert.ok(filtered !== null)
  assert.equal(isFiltered(filtered), true)
  const bare = withoutFilters(filtered)
  assert.equal(isFiltered(bare), false)
  assert.equal(writeAddress(bare), '/calls?range=1h&call=0123456789a&tz=utc')
})

test('a range that ends now moves with it', () => {
  const hour = { fromMs: 6_400_000, toMs: 10_000_000 }
  assert.deepEqual(boundsOf({ range: { last: '1h' }, utc: true }, 10_000_000), hour)
  const fixed = { last: null, fromMs: 1, toMs: 2 } as const
  assert.deepEqual(boundsOf({ range: fixed, utc: true }, 10_000_000), fixed)
  const nowMs = Date.UTC(2027, 0, 1, 9, 30)
  const [today, month] = (['today', 'month'] as const).map((last) =>
    boundsOf({ range: { last }, utc: true }, nowMs),
  )
  assert.deepEqual(today, { fromMs: Date.UTC(2027, 0, 1), toMs: nowMs })
  assert.deepEqual(month, today)
})

test('short ranges are asked for often, long ones seldom, fixed ones once', () => {
  const every = (Object.keys(lastRanges) as LastRange[]).map((last) => [
    last,
    refreshEveryMs({ last })! / 1000,
  ])
  assert.equal(every.join(' '), '1h,10 6h,30 24h,30 7d,300 30d,300 today,30 month,300')
  assert.equal(refreshEveryMs({ last: null, fromMs: 1, toMs: 2 }), null)
})
