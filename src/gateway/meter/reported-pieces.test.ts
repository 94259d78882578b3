import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCounts, ReportedPieces } from './reported-pieces.ts'

type Noted = readonly [name: 'usage' | 'timings', choice: number | null, value: unknown]

function noted(...all: readonly Noted[]): ReportedPieces {
  const pieces = new ReportedPieces()
  for (const [name, choice, value] of all) pieces.note(name, value, choice)
  return pieces
}

test('the newest object of each kind counts, and what is no object is not there', () => {
  const pieces = noted(
    ['usage', null, { total_tokens: 1 }],
    ['usage', null, { total_tokens: 22 }],
    ['usage', null, null],
    ['usage', null, [1]],
    ['timings', 0, { predicted_n: 3 }],
  )
  assert.deepEqual(pieces.all(), [{ usage: { total_tokens: 22 }, timings: { predicted_n: 3 } }])
  assert.equal(pieces.countEvents, 3)
  assert.deepEqual(noted().all(), [])
})

test('of each choice the newest counts, until a usage of all of them comes', () => {
  const ofChoices: readonly Noted[] = [
    ['timings', 3, { predicted_n: 3 }],
    ['timings', 0, { predicted_n: 1 }],
    ['timings', 3, { predicted_n: 4 }],
  ]
  assert.deepEqual(noted(...ofChoices).all(), [
    { timings: { predicted_n: 1 } },
    { timings: { predicted_n: 4 } },
  ])
  assert.deepEqual(noted(...ofChoices, ['usage', null, { total_tokens: 9 }]).all(), [
    { timings: { predicted_n: 1 }, usage: { total_tokens: 9 } },
  ])
})

const usages: readonly [usage: object, hasCounts: boolean][] = [
  [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, false],
  [{ prompt_tokens: 0, details: { cached_tokens: 0 }, x: null }, false],
  [{}, false],
  [{ prompt_tokens: 0, completion_tokens: 10 }, true],
  [{ prompt_tokens: 0, details: { cached_tokens: 1 } }, true],
  [{ prompt_tokens: 0, completion_tokens: '9' }, true],
]

for (const [usage, expected] of usages) {
  test(`${JSON.stringify(usage)} ${expected ? 'has' : 'has no'} counts`, () => {
    assert.equal(hasCounts(usage), expected)
  })
}
