import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type ReportedLimit, readLimits } from './limit-headers.ts'

const nowMs = Date.parse('2026-11-27T12:00:00Z')

/** Kind, limit, remaining, ms until the reset, and the window where it is no minute. */
type Row = readonly [string, number | null, number | null, number | null, number?]

const cases: readonly (readonly [
  what: string,
  headers: Readonly<Record<string, string>>,
  rows: readonly Row[],
])[] = [
  [
    'OpenAI, Azure, Groq',
    {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '212',
      'x-ratelimit-reset-requests': '120ms',
      'X-RateLimit-Limit-Tokens': '200000',
      'X-RateLimit-Remaining-Tokens': '61000',
      'X-RateLimit-Reset-Tokens': '6m0.5s',
    },
    [
      ['requests', 500, 212, 120],
      ['tokens', 200_000, 61_000, 360_500, 3_600_000],
    ],
  ],
  [
    'Anthropic',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-11-27T12:00:01Z',
      'anthropic-ratelimit-input-tokens-limit': '40000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-27T13:00:30+01:00',
      'anthropic-ratelimit-output-tokens-remaining': '8000',
    },
    [
      ['requests', 50, 49, 1000],
      ['input_tokens', 40_000, 0, 30_000],
      ['output_tokens', null, 8000, null],
    ],
  ],
  [
    'OpenRouter: an instant in milliseconds',
    {
      'X-RateLimit-Limit': '20',
      'X-RateLimit-Remaining': '3',
      'X-RateLimit-Reset': String(nowMs + 14_000),
    },
    [['requests', 20, 3, 14_000]],
  ],
  [
    'a day without its name: Groq’s and OpenAI’s requests',
    {
      'x-ratelimit-limit-requests': '1000',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': '23h57m7.2s',
    },
    [['requests', 1000, 2, 86_227_200, 86_400_000]],
  ],
  [
    'an instant by the clock of the provider, which is an hour ahead',
    {
      Date: 'Fri, 27 Nov 2026 13:00:00 GMT',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-27T13:00:05Z',
    },
    [['requests', null, 0, 5000]],
  ],
  [
    'an instant in seconds',
    { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(nowMs / 1000 + 14) },
    [['requests', null, 3, 14_000]],
  ],
  [
    'Cerebras: a day and a minute',
    {
      'x-ratelimit-limit-requests-day': '14400',
      'x-ratelimit-remaining-requests-day': '14399',
      'x-ratelimit-reset-requests-day': '43200.5',
      'x-ratelimit-limit-tokens-minute': '60000',
      'x-ratelimit-remaining-tokens-minute': '59000',
      'x-ratelimit-reset-tokens-minute': '12.25',
    },
    [
      ['requests', 14_400, 14_399, 43_200_500, 86_400_000],
      ['tokens', 60_000, 59_000, 12_250],
    ],
  ],
  [
    'Mistral',
    { 'x-ratelimit-limit-req-minute': '60', 'x-ratelimit-remaining-req-minute': '59' },
    [['requests', 60, 59, null]],
  ],
  [
    'Fireworks',
    { 'x-ratelimit-limit-tokens-prompt': '9', 'x-ratelimit-remaining-tokens-generated': '8' },
    [
      ['input_tokens', 9, null, null],
      ['output_tokens', null, 8, null],
    ],
  ],
  [
    'the drafts of the IETF',
    { 'RateLimit-Limit': '100, 100;w=60', 'RateLimit-Remaining': '50', 'RateLimit-Reset': '30' },
    [['requests', 100, 50, 30_000]],
  ],
  ['an older draft', { RateLimit: 'limit=100, remaining=50, reset=30' }, [['requests', 100, 50, 30_000]]],
  [
    'the newest draft',
    { 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=50;t=30' },
    [['requests', 100, 50, 30_000]],
  ],
  [
    'two that contradict each other: the one that leaves less',
    { 'x-ratelimit-remaining-requests': '7', 'ratelimit-remaining': '3', 'x-ratelimit-limit-requests': '9' },
    [['requests', 9, 3, null]],
  ],
  [
    'a reset in the past, and one that cannot be',
    {
      'x-ratelimit-remaining-requests': '7',
      'x-ratelimit-reset-requests': '2020-01-01T00:00:00Z',
      'x-ratelimit-remaining-tokens': '8',
      'x-ratelimit-reset-tokens': '1000000000s',
    },
    [
      ['requests', null, 7, 0],
      ['tokens', null, 8, null],
    ],
  ],
  [
    'no numbers',
    { 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-limit-tokens': '-1', 'x-ratelimit-reset': '5' },
    [],
  ],
  ['other headers', { 'retry-after': '5', 'x-request-id': 'ratelimit' }, []],
]

for (const [what, headers, rows] of cases) {
  test(`limits of a provider are read: ${what}`, () => {
    const read = readLimits(Object.entries(headers).flat(), nowMs)
    assert.deepEqual(
      read.map(({ kind, limit, remaining, resetMs, windowMs }: ReportedLimit) =>
        [kind, limit, remaining, resetMs].concat(windowMs === 60_000 ? [] : [windowMs]),
      ),
      rows,
    )
  })
}

test('whatever the headers say, what is read is plausible', () => {
  const name = fc.constantFrom(...cases.flatMap(([, headers]) => Object.keys(headers)))
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(...cases.flatMap(([, headers]) => Object.values(headers))),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (headers) => {
      for (const { limit, remaining, resetMs } of readLimits(headers.flat(), nowMs)) {
        for (const figure of [limit, remaining, resetMs]) {
          assert.ok(figure === null || (Number.isInteger(figure) && figure >= 0), String(figure))
        }
      }
    }),
  )
})
