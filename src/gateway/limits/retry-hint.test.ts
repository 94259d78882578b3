import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRetryHint } from './limit-headers.ts'

const nowMs = Date.UTC(2026, 10, 21, 6, 0, 0)

const cases: readonly (readonly [what: string, headers: readonly string[], afterMs: number | null])[] = [
  ['nothing', [], null],
  ['seconds', ['Retry-After', '7'], 7000],
  ['no seconds', ['Retry-After', '0'], 0],
  ['a fraction of a second', ['retry-after', '0.25'], 250],
  ['white space', ['Retry-After', ' 7\t'], 7000],
  ['milliseconds', ['retry-after-ms', '1234'], 1234],
  ['milliseconds before seconds', ['Retry-After', '9', 'Retry-After-Ms', '1500.5'], 1500.5],
  ['seconds where milliseconds make no sense', ['retry-after-ms', 'soon', 'Retry-After', '3'], 3000],
  ['the first of two', ['Retry-After', '3', 'Retry-After', '8'], 3000],
  ['a date', ['Retry-After', 'Sat, 21 Nov 2026 06:00:10 GMT'], 10_000],
  ['a date as in RFC 850', ['Retry-After', 'Saturday, 21-Nov-26 06:00:10 GMT'], 10_000],
  [
    'a date as asctime writes it, in GMT wherever we are',
    ['Retry-After', 'Sat Nov 21 06:00:10 2026'],
    10_000,
  ],
  ['a date of the past', ['Retry-After', 'Sat, 21 Nov 2026 05:00:00 GMT'], 0],
  [
    'a date by a clock that is an hour ahead',
    ['Date', 'Sat, 21 Nov 2026 07:00:00 GMT', 'Retry-After', 'Sat, 21 Nov 2026 07:00:05 GMT'],
    5000,
  ],
  [
    'a date beside a Date that is none',
    ['Date', 'today', 'Retry-After', 'Sat, 21 Nov 2026 06:00:10 GMT'],
    10_000,
  ],
  ['a negative number', ['Retry-After', '-1'], null],
  ['a word', ['Retry-After', 'later'], null],
  ['a year', ['Retry-After', '2026-11-21T06:00:10Z'], null],
  ['nothing at all', ['Retry-After', ''], null],
  ['a number beyond all bounds', ['Retry-After', '9'.repeat(40)], null],
  ['a weekday and nonsense', ['Retry-After', 'Sat, soon'], null],
]

for (const [what, headers, afterMs] of cases) {
  test(`retry-after: ${what}`, () => {
    assert.deepEqual(readRetryHint(headers, nowMs), { afterMs, forbidden: false })
  })
}

test('x-should-retry: only false forbids', () => {
  for (const [value, forbidden] of [
    ['false', true],
    ['FALSE', true],
    ['true', false],
    ['', false],
    ['0', false],
  ] as const) {
    assert.equal(readRetryHint(['X-Should-Retry', value], nowMs).forbidden, forbidden, value)
  }
})
