import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleHealth } from '../../test/support/sample-health.ts'
import { budgetWords } from './budget-words.ts'

test('the budget tells what is estimated, and that earlier use is not known yet', () => {
  const budget = { ...sampleHealth.token_budget, daily_limit: 2_000_000, total_used: 950 }
  assert.equal(budgetWords(budget), '950 of 2\u202fM')
  assert.equal(budgetWords({ ...budget, estimated: 120 }), '950 of 2\u202fM, 120 estimated')
  assert.equal(
    budgetWords({ ...budget, total_used: 0, known: false }),
    '0 of 2\u202fM, use before the start not read yet',
  )
})
