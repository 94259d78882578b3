import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CostMatches } from '../../src/api/costs.ts'
import { freeCalls, unpricedWords } from './free-calls.ts'

const match = (model: string, calls: number, none: 'local' | 'no_entry') => ({
  model,
  unpriced_calls: calls,
  price: { none },
})

test('self-hosted calls are told from unpriced ones, also of models that an overview leaves out', () => {
  const matches = [match('own', 50, 'local'), match('rare', 6, 'local'), match('new', 3, 'no_entry')]
  const free = (
    unpriced: number,
    listed: number,
    countedFrom: string | null,
    of = matches,
    chosen: string[] = [],
  ): string => {
    const models = [{ model: 'own', unpriced_calls: listed }]
    const answer = { matches: of, counted_from: countedFrom } as unknown as CostMatches
    return unpricedWords(unpriced, freeCalls(unpriced, models, answer, chosen).calls)
  }
  assert.equal(free(59, 50, null), '3 unpriced')
  assert.equal(free(59, 50, null, matches.slice(0, 2)), '59 self-hosted')
  // With a filter, an overview has fewer calls than the prices of its range.
  assert.equal(free(2, 2, null), '2 self-hosted')
  assert.equal(free(56, 0, null, matches, ['own', 'rare']), '56 self-hosted')
  // Prices know only a part of the calls.
  assert.equal(free(90, 80, '2026-11-01T00:00:00Z'), '10 unpriced')
  assert.equal(free(90, 0, null, [match('own', 50, 'local'), match('own', 1, 'no_entry')]), '51 unpriced')
})
