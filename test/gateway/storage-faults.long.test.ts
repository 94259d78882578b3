import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { storageFaults } from '../faults/storage-faults.ts'
import { brokenPromises, storageRound } from '../faults/storage-round.ts'

/** Machines that are busy with other tests hold calls up; that a disk did would show as all of its five seconds of waiting. */
const slowestMs = 4800
const options = { perSecond: 40, beforeMs: 300, holdMs: 300, limitMs: 20_000 }

describe(
  'traffic goes on, the report says why it is degraded, and recording goes on by itself',
  { concurrency: 3 },
  () => {
    // A full disk and EIO need rights: `test/faults/live-storage.ts` tries them.
    for (const fault of storageFaults.filter(({ needs }) => needs === 'nothing')) {
      test(fault.name, async (context) => {
        const figures = await storageRound(fault, options)
        context.diagnostic(JSON.stringify(figures))
        assert.deepEqual(brokenPromises(fault, figures, slowestMs), [])
      })
    }
  },
)
