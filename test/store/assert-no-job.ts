import assert from 'node:assert/strict'
import { lockJob } from '../../src/store/sqlite/store-files.ts'

/** No job holds the database, neither one that ended nor one that was killed. */
export function assertNoJob(path: string): void {
  using job = lockJob(path)
  assert.notEqual(job, null, 'a job still holds the database')
}
