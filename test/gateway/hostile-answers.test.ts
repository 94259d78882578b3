/** Broken answers of an upstream, few of them; 20,000 by `test/faults/hostile.ts --answers 20000`. */
import { test } from 'node:test'
import { attackByAnswers } from '../support/broken-answers.ts'

test('answers of many kinds, broken off anywhere, end no gateway, keep no slot, and never look finished', async () => {
  await attackByAnswers(600)
})
