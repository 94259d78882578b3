import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandFault } from '../../../test/support/command-fault.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { sampleCosts } from '../../../test/pricing/sample-costs.ts'
import type { ModelCosts } from '../../pricing/model-costs.ts'
import { readPriceFile, writePriceFile } from '../../pricing/price-file.ts'
import * as costsSet from './costs-set.ts'

async function run(argv: readonly string[], terminal: FakeTerminal): Promise<unknown> {
  return costsSet.run(...given(costsSet, argv, terminal))
}

/** The command in a folder of its own. */
async function makePlace() {
  const dir = await makeTempDir()
  const terminal = new FakeTerminal({ clock: new FakeClock(Date.UTC(2026, 10, 21)) })
  const path = dir.file('model_costs.json')
  const set = (...argv: readonly string[]): Promise<unknown> =>
    run([...argv, '--db', dir.file('calls.db')], terminal)
  const overrides = (): ModelCosts['overrides'] => {
    const reading = readPriceFile(path)
    assert.ok('costs' in reading && reading.costs !== null)
    return reading.costs.overrides
  }
  return { path, terminal, set, overrides, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() }
}

test('sets a price with every rate there is', async () => {
  await using folder = await makePlace()
  writePriceFile(folder.path, sampleCosts)
  const rates = '--input 0.15 --output=0.6 --cache-read 0.075 --cache-write 0.2 --cache-write-1h 0.3'
  const others = '--reasoning 1 --input-audio 2 --output-audio 3 --per-request 0.01 --per-search-unit 0.002'
  assert.equal(await folder.set('gpu-box:8080/my-model', ...`${rates} ${others}`.split(' ')), 0)
  const tier = {
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
  }
  assert.deepEqual(folder.overrides()['gpu-box:8080/my-model'], {
    source: 'user',
    updated_at: '2026-11-21T00:00:00.000Z',
    prices: [{ effective_from: null, tiers: [tier] }],
  })
  assert.match(
    folder.terminal.out,
    /^gpu-box:8080\/my-model costs input 0\.15, output 0\.6, .* USD per million tokens, 0\.01 USD per request/,
  )
})

test('a price may have separators of thousands', async () => {
  await using folder = await makePlace()
  await folder.set('m', '--input', '1,000', '--output', '0.5')
  assert.equal(folder.overrides()['m']?.prices[0]?.tiers[0]?.input, 1000)
})

test('adds a dated price, and takes all of it away', async () => {
  await using folder = await makePlace()
  await folder.set('m', '--input', '0', '--output', '0')
  await folder.set('m', '--input', '1', '--output', '2', '--effective-from', '2026-12-01')
  assert.deepEqual(
    folder.overrides()['m']?.prices.map(({ effective_from: from }) => from),
    [null, '2026-12-01'],
  )
  assert.equal(await folder.set('M', '--remove'), 0)
  assert.deepEqual(folder.overrides(), {})
  await folder.set('host/m', '--input', '1', '--output', '1')
  await assert.rejects(folder.set('m', '--remove'), commandFault(/has no price of your own for "m"/))
})

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /name the model/],
  [['m'], /--input must be given/],
  [['m', '--input', '1'], /--output must be given/],
  [['m', '--input', '-1', '--output', '1'], /--input must be a number from 0 to 1,000; got "-1"/],
  [['m', '--input', '1,001', '--output', '1'], /--input must be a number from 0 to 1,000; got "1,001"/],
  [['m', '--input', '4,5', '--output', '1'], /--input must be a number from 0 to 1,000; got "4,5"/],
  [['m', '--input', 'NaN', '--output', '1'], /--input must be a number/],
  [['m', '--input', '1e3', '--output', '1'], /--input must be a number/],
  [['m', '--input', '1', '--output', '1', '--effective-from', 'soon'], /--effective-from must be an instant/],
  [['m', '--remove', '--input', '1'], /--remove cannot be used/],
  [['m', 'n', '--input', '1', '--output', '1'], /one model at a time/],
  [['  ', '--input', '1', '--output', '1'], /the name must be a model, or host\/model/],
]

for (const [argv, message] of wrong) {
  test(`refuses ${argv.join(' ')}`, async () => {
    await assert.rejects(() => run(argv, new FakeTerminal()), message)
  })
}
