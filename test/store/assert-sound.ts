import assert from 'node:assert/strict'
import { type CheckReport, checkStore } from '../../src/store/jobs/check-store.ts'

/** A file is whole, and every level of its sums is what its calls say. */
export function assertSound(path: string): CheckReport {
  const report = checkStore(path, { full: true })
  assert.ok(typeof report === 'object')
  const { integrity, hours, days } = report
  assert.deepEqual([integrity, hours.wrongMs, days.wrongMs], [[], [], []])
  assert.ok(hours.of > 0)
  assert.equal(hours.checked, hours.of)
  return report
}
