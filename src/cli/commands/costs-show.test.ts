import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { commandFault } from '../../../test/support/command-fault.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { rates, sampleCosts } from '../../../test/pricing/sample-costs.ts'
import { noPrices, type ModelCosts } from '../../pricing/model-costs.ts'
import { priceFileText, writePriceFile } from '../../pricing/price-file.ts'
import * as costsShow from './costs-show.ts'
import { OptionError } from '../parse-options.ts'

const dir = await makeTempDir()
after(() => dir[Symbol.asyncDispose]())
const path = dir.file('model_costs.json')
const shipped = dir.file('shipped.json')
writePriceFile(shipped, sampleCosts)

/** With a file of these prices or this text, or without one. */
function show(
  file: ModelCosts | string | null,
  ...argv: readonly string[]
): { code: number; out: string; err: string } {
  rmSync(path, { force: true })
  if (file !== null) writeFileSync(path, typeof file === 'string' ? file : priceFileText(file))
  const terminal = new FakeTerminal()
  const code = costsShow.run(...given(costsShow, [...argv, '--db', dir.file('calls.db')], terminal), shipped)
  return { code, out: terminal.out.replaceAll(dir.path, '.'), err: terminal.err.replaceAll(dir.path, '.') }
}

const file: ModelCosts = {
  ...sampleCosts,
  synced_at: '2026-11-21T04:00:00Z',
  source: { name: 'litellm', url: 'https://example.com/list.json' },
  overrides: {
    'gpu-box:8080/qwen3': {
      source: 'user',
      prices: [
        { effective_from: null, tiers: [rates({ input: 1, output: 1 })] },
        { effective_from: '2026-11-01', tiers: [rates({ input: 0.1, output: 0.2, per_request: 0.001 })] },
      ],
    },
  },
}

test('says what a model costs, which entry was matched, and who says so', () => {
  assert.deepEqual(show(file, 'gpt-4o-mini', '--upstream', 'https://api.openai.com/v1'), {
    code: 0,
    out: `gpt-4o-mini at api.openai.com
  entry    gpt-4o-mini
  source   litellm, as of 2026-11-21T04:00:00Z
  holds    from the beginning
  input 0.15, output 0.6, cache read 0.075 USD per million tokens
  priority: input 0.25, output 1, cache read 0.125 USD per million tokens
  batch: input 0.075, output 0.3 USD per million tokens
`,
    err: '',
  })
})

test('without an upstream it says where the model is listed', () => {
  const { out } = show(file, 'gemini-2.5-pro')
  assert.match(
    out,
    /^gemini-2\.5-pro at generativelanguage\.googleapis\.com\n  entry    gemini\/gemini-2\.5-pro\n/,
  )
  assert.match(
    out,
    /\n  above 200,000 input tokens, the whole request: input 2\.5, output 15, cache read 0\.25 USD/,
  )
})

test('tells one’s own price, and its date', () => {
  const { out } = show(file, 'qwen3', '--upstream', 'gpu-box:8080')
  assert.match(
    out,
    /entry    gpu-box:8080\/qwen3, an override\n  source   user\n  holds    from 2026-11-01\n/,
  )
  assert.match(out, /input 0\.1, output 0\.2 USD per million tokens, 0\.001 USD per request/)
})

test('says why there is none, and ends with 1', () => {
  const words = (...argv: string[]): string => {
    const { code, out } = show(file, ...argv)
    assert.equal(code, 1)
    return out
  }
  assert.match(words('gpt-4o-mini', '--upstream', '127.0.0.1:8080'), /runs on this machine or network/)
  assert.match(words('gpt-9', '--upstream', 'api.openai.com'), /no known price/)
  assert.match(words('gpt-9', '--upstream', 'llm.example.org'), /no price list covers this upstream/)
  assert.match(words('gpt-9'), /^gpt-9: no known price/)
})

test('as JSON it says the same', () => {
  const { out } = show(file, 'rerank-v3.5', '--json')
  assert.deepEqual(JSON.parse(out), {
    model: 'rerank-v3.5',
    prices: ['api.cohere.com', 'api.cohere.ai'].map((upstream) => ({
      upstream,
      price: {
        key: 'rerank-v3.5',
        source: 'litellm',
        effective_from: null,
        updated_at: '2026-11-21T04:00:00Z',
        tiers: [{ above_input_tokens: 0, input: 0, output: 0, per_search_unit: 0.002 }],
      },
    })),
  })
  const none: unknown = JSON.parse(show(file, 'x', '--upstream', 'localhost', '--json').out)
  assert.deepEqual(none, { model: 'x', prices: [{ upstream: 'localhost', price: { none: 'local' } }] })
})

test('without a model it says what prices there are', () => {
  assert.match(
    show(file).out,
    /^7 prices from litellm, synced 2026-11-21T04:00:00Z \(\.\/model_costs\.json\)\n1 of your own:\n  gpu-box:8080\/qwen3: input 0\.1/,
  )
  assert.match(
    show(null).out,
    /^7 prices, never synced \(.* does not exist yet: these are the shipped prices\)\nNo prices of your own\.\n$/,
  )
  const state = { file: './model_costs.json', synced_at: null, source: null, models: 7, overrides: {} }
  assert.deepEqual(JSON.parse(show(noPrices, '--json').out), state)
})

test('a broken file is told with its place', () => {
  const broken = '{\n  "version": 1,\n  "model'
  const words = /\/model_costs\.json, line 3, column 9: It is not JSON/
  assert.throws(() => show(broken, 'gpt-4o-mini'), commandFault(words))
})

test('wrong words are told', () => {
  assert.throws(() => show(file, 'a', 'b'), OptionError)
  assert.throws(() => show(file, 'a', '--upstream', 'http://u:p@h/'), /--upstream must be a host/)
  assert.throws(() => show(file, 'a', '--upstream', 'h/v1'), /--upstream must be a host/)
  assert.throws(() => show(file, '--nope'), /unknown option '--nope'/)
})
