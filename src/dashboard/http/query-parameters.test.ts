import assert from 'node:assert/strict'
import { test } from 'node:test'
import { integer, someOf } from '../../options/value-kind.ts'
import { or, readQuery } from './query-parameters.ts'
import { RequestError, errorStatuses } from './request-error.ts'

const table = { lines: or(integer(1, 5000), 150), topics: someOf(['gateway', 'log']) }

const good: readonly [query: Record<string, unknown>, values: unknown][] = [
  [{ topics: 'log' }, { lines: 150, topics: ['log'] }],
  [
    { lines: '1', topics: 'log,gateway' },
    { lines: 1, topics: ['log', 'gateway'] },
  ],
  [
    { lines: '5000', topics: 'log,log' },
    { lines: 5000, topics: ['log'] },
  ],
]

for (const [query, values] of good) {
  test(`${JSON.stringify(query)} is read`, () => assert.deepEqual(readQuery(query, table), values))
}

const range = 'a whole number from 1 to 5,000'
const words = 'one or more of gateway, log, with commas between them'
const bad: readonly [query: Record<string, unknown>, param: string, message: string][] = [
  ...['0', '5001', '-1', '1.5', '1e3', '0x10', ' 5', '', 'all', '9'.repeat(400)].map(
    (lines): [Record<string, unknown>, string, string] => [
      { topics: 'log', lines },
      'lines',
      `lines must be ${range}; got ${JSON.stringify(lines).slice(0, 100)}`,
    ],
  ),
  [{ topics: 'log', lines: ['1', '2'] }, 'lines', `lines must be ${range}; got ["1","2"]`],
  [{}, 'topics', `topics must be ${words}; got nothing`],
  [{ topics: '' }, 'topics', `topics must be ${words}; got ""`],
  [{ topics: 'log,' }, 'topics', `topics must be ${words}; got "log,"`],
  [{ topics: 'Log' }, 'topics', `topics must be ${words}; got "Log"`],
  [{ topics: 'log', line: '1' }, 'line', '"line" is not a parameter; known are lines, topics.'],
  [
    { topics: 'log', constructor: '1' },
    'constructor',
    '"constructor" is not a parameter; known are lines, topics.',
  ],
]

for (const [query, param, message] of bad) {
  test(`${JSON.stringify(query).slice(0, 60)} is refused`, () => {
    assert.throws(
      () => readQuery(query, table),
      (error) => {
        assert.ok(error instanceof RequestError)
        assert.deepEqual([errorStatuses[error.code], error.param, error.message], [400, param, message])
        return true
      },
    )
  })
}

test('a route without parameters says so', () => {
  assert.throws(() => readQuery({ x: '1' }, {}), /"x" is not a parameter; this route has none\./)
})
