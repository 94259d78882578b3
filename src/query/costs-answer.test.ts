import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PriceSync } from '../api/costs.ts'
import { neverSynced, noPrices } from '../pricing/model-costs.ts'
import { costsAnswer } from './costs-answer.ts'

test('of the syncs that are known the last one is told, and one that runs before all', () => {
  const at = (hour: number, more: Partial<PriceSync> = {}): PriceSync => ({
    ...neverSynced,
    finished_at: `2026-11-21T0${hour}:00:00.000Z`,
    ...more,
  })
  const failed = at(4, { last_error: 'no' })
  const running = { ...neverSynced, state: 'running' } as const
  const cases: readonly (readonly [inFile: PriceSync, here: PriceSync | null, answered: PriceSync])[] = [
    [neverSynced, null, neverSynced],
    [neverSynced, failed, failed],
    [at(3), failed, failed],
    [at(5), failed, at(5)],
    [at(5), running, running],
  ]
  for (const [inFile, here, answered] of cases) {
    const prices = { costs: { ...noPrices, sync: inFile }, problem: null }
    assert.deepEqual(costsAnswer(prices, { kind: 'costs', sync: here, fileState: '' }).sync, answered)
  }
})
