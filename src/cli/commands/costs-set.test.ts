import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { sampleCosts } from '../../../test/pricing/sample-costs.ts'
import type { ModelCosts } from '../../pricing/model-costs.ts'
import type { PriceReading } from '../../pricing/price-file.ts'
import { type ChangedPrices, run as runCostsSet } from './costs-set.ts'

/** A file and what became of it. */
class Place implements ChangedPrices {
  reading: PriceReading
  readonly #terminal = new FakeTerminal({ clock: new FakeClock(Date.UTC(2026, 10, 21)) })
  held = 0
  isHeldElsewhere = false
  isFull = false

  constructor(reading: PriceReading = { costs: sampleCosts }) {
    this.reading = reading
  }

  readonly lock = (): Promise<Disposable | null> => {
    if (this.isHeldElsewhere) return Promise.resolve(null)
    this.held += 1
    return Promise.resolve({ [Symbol.dispose]: () => void (this.held -= 1) })
  }
  readonly read = (): PriceReading => {
    assert.equal(this.held, 1)
    return this.reading
  }
  readonly write = (_path: string, costs: ModelCosts): void => {
    assert.equal(this.held, 1)
    if (this.isFull) throw new Error('ENOSPC: no space left on device')
    this.reading = { costs }
  }
  get out(): string {
    return this.#terminal.out
  }

  get err(): string {
    return this.#terminal.err
  }

  get overrides(): ModelCosts['overrides'] {
    assert.ok(typeof this.reading === 'object' && 'costs' in this.reading)
    return this.reading.costs.overrides
  }

  run(...argv: readonly string[]): Promise<number> {
    return runCostsSet(argv, {}, this.#terminal, this)
  }
}

test('sets a price with every rate there is, with the lock held', async () => {
  const place = new Place()
  const rates = [
    '--input',
    '0.15',
    '--output=0.6',
    '--cache-read',
    '0.075',
    '--cache-write',
    '0.2',
    '--cache-write-1h',
    '0.3',
  ]
  const others = [
    '--reasoning',
    '1',
    '--input-audio',
    '2',
    '--output-audio',
    '3',
    '--per-request',
    '0.01',
    '--per-search-unit',
    '0.002',
  ]
  assert.equal(await place.run('gpu-box:8080/my-model', ...rates, ...others), 0)
  assert.deepEqual(place.overrides['gpu-box:8080/my-model'], {
    source: 'user',
    updated_at: '2026-11-21T00:00:00.000Z',
    prices: [
      {
        effective_from: null,
        tiers: [
          {
            above_input_tokens: 0,
            input: 0.15,
            output: 0.6,
            cache_read: 0.075,
            cache_write: 0.2,
            cache_write_1h: 0.3,
            reasoning: 1,
            input_audio: 2,
            output_audio: 3,
            per_request: 0.01,
            per_search_unit: 0.002,
          },
        ],
      },
    ],
  })
  assert.match(
    place.out,
    /^gpu-box:8080\/my-model costs input 0\.15, output 0\.6, .* USD per million tokens, 0\.01 USD per request/,
  )
  assert.equal(place.held, 0)
})

test('adds a dated price, and takes all of it away', async () => {
  const place = new Place('missing')
  await place.run('m', '--input', '0', '--output', '0')
  await place.run('m', '--input', '1', '--output', '2', '--effective-from', '2026-12-01')
  assert.deepEqual(
    place.overrides['m']?.prices.map(({ effective_from: from }) => from),
    [null, '2026-12-01'],
  )
  assert.equal(await place.run('M', '--remove'), 0)
  assert.deepEqual(place.overrides, {})
  assert.equal(await place.run('m', '--remove'), 1)
  assert.match(place.err, /has no price of your own for "m"/)
})

test('changes nothing where another changes the prices, or the file is broken or cannot be written', async () => {
  const held = new Place()
  held.isHeldElsewhere = true
  assert.equal(await held.run('m', '--input', '1', '--output', '1'), 1)
  assert.match(held.err, /something else is changing data\/model_costs\.json/)
  const broken = new Place({ problem: { message: 'models: must be an object.', line: 2, column: 7 } })
  assert.equal(await broken.run('m', '--input', '1', '--output', '1'), 1)
  assert.equal(
    broken.err,
    'tokenweir: data/model_costs.json:2:7 has to be mended first: models: must be an object.\n',
  )
  const full = new Place()
  full.isFull = true
  assert.equal(await full.run('m', '--input', '1', '--output', '1'), 1)
  assert.match(full.err, /^tokenweir: data\/model_costs\.json: ENOSPC/)
  assert.equal(full.held, 0)
})

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /name the model/],
  [['m'], /--input must be given/],
  [['m', '--input', '1'], /--output must be given/],
  [['m', '--input', '-1', '--output', '1'], /--input must be a number from 0 to 1000; got "-1"/],
  [['m', '--input', '1001', '--output', '1'], /--input must be a number from 0 to 1000/],
  [['m', '--input', 'NaN', '--output', '1'], /--input must be a number/],
  [['m', '--input', '1e3', '--output', '1'], /--input must be a number/],
  [['m', '--input', '1', '--output', '1', '--effective-from', 'soon'], /--effective-from must be an instant/],
  [['m', '--remove', '--input', '1'], /--remove takes the price away/],
  [['m', 'n', '--input', '1', '--output', '1'], /one model at a time/],
  [['  ', '--input', '1', '--output', '1'], /the name must be a model, or host\/model/],
]

for (const [argv, message] of wrong) {
  test(`refuses ${argv.join(' ')}`, async () => {
    await assert.rejects(() => new Place().run(...argv), message)
  })
}
