import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { costPicoUsd } from '../../src/pricing/cost.ts'
import { fees, tokenRates } from '../../src/pricing/rate-bounds.ts'
import { tiersOf } from '../../src/pricing/price-tiers.ts'
import { readModelCosts } from '../../src/pricing/read-model-costs.ts'
import { knownUpstreams } from '../../src/pricing/upstream-table.ts'
import { usageOf } from '../pricing/sample-costs.ts'

const text = readFileSync(new URL('../../docs/prices.md', import.meta.url), 'utf8')
const [today, older] = [...text.matchAll(/^```json\n([^]*?)^```/gm)].map(([, json = '']) =>
  readModelCosts(json),
)

test('docs/prices.md lists every host whose prices are listed', () => {
  const told = new Map<string, object>()
  for (const [, hosts = '', prefix = '', provider] of text.matchAll(
    /^ +\| (`.+?) \| (.+?) \| `(.+?)` \|$/gm,
  )) {
    for (const [, host = ''] of hosts.matchAll(/`(.+?)`/g)) {
      told.set(host, { prefix: prefix === '–' ? '' : prefix.replaceAll('`', ''), provider })
    }
  }
  assert.deepEqual(Object.fromEntries(told), knownUpstreams)
})

test('docs/prices.md lists every rate', () => {
  const told = [...text.matchAll(/^\| `([a-z_\d]+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(told, [...tokenRates, ...fees])
})

test('the files in docs/prices.md are sound', () => {
  assert.ok(today && 'costs' in today, JSON.stringify(today))
  assert.ok(older && 'costs' in older, JSON.stringify(older))
  assert.deepEqual(Object.keys(older.costs.overrides), ['gpt-4o'])
})

test('what docs/prices.md reckons is what is reckoned', () => {
  assert.ok(today && 'costs' in today)
  const rows = [...text.matchAll(/^\| `([^`]+)`: (.+?) \| (.+?) \| ([\d.]+) \|$/gm)]
  assert.equal(rows.length, 5)
  for (const [, key = '', counts = '', sum = '', usd] of rows) {
    const count = (name: string): number =>
      Number(new RegExp(`([\\d,]+) ${name}`).exec(counts)?.[1]?.replaceAll(',', '') ?? 0)
    const period = today.costs.models[key]?.prices[0]
    assert.ok(period, key)
    const usage = usageOf({
      inputTokens: count('in'),
      cachedInputTokens: count('cached'),
      cacheWriteTokens: count('written'),
      cacheWrite1hTokens: count('for an hour'),
      outputTokens: count('out'),
    })
    const pico = costPicoUsd(usage, { tiers: tiersOf(period, null) })
    assert.equal(pico, Math.round(Number(usd) * 1e12), key)
    const byHand = sum.split(' + ').map((part) => {
      const [tokens = '', rate = ''] = part.split(' × ')
      return Number(tokens.replaceAll(',', '')) * Number(rate) * 1e6
    })
    assert.equal(pico, Math.round(byHand.reduce((all, part) => all + part, 0)), key)
  }
})
