/** Few of each kind; `test/faults/hostile.ts` tries 20,000. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attackByAnswers } from '../support/broken-answers.ts'
import { attackDashboard, attackGateway } from '../support/hostile-rounds.ts'
import { refusedUploads } from '../support/refused-uploads.ts'

test('hostile connections end no gateway, keep no slot, and each call has one row', async () => {
  await attackGateway(630)
})

test('hostile connections end no dashboard', async () => {
  await attackDashboard(465)
})

test('answers of many kinds, broken off anywhere, end no gateway, keep no slot, and never look finished', async () => {
  await attackByAnswers(360)
})

test('the refusal of an upload of 10 MB arrives, whichever program sends it', async () => {
  const { lost } = await refusedUploads(1)
  assert.deepEqual(lost, [])
})
