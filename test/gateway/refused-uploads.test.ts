import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedUploads } from '../support/refused-uploads.ts'

test('the refusal of an upload of 10 MB arrives, whichever program sends it', async () => {
  const { lost } = await refusedUploads(1)
  assert.deepEqual(lost, [])
})
