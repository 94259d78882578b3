import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readLimits } from './limit-headers.ts'

const nowMs = Date.parse('2026-11-27T12:00:00Z')

/** Each limit as `kind limit remaining ms-until-the-reset`, and its window where that is no minute; - is not told. */
const cases: readonly (readonly [what: string, headers: string, limits: readonly string[]])[] = [
  [
    'OpenAI, Azure, Groq',
    `x-ratelimit-limit-requests: 500
     x-ratelimit-remaining-requests: 212
     x-ratelimit-reset-requests: 120ms
     X-RateLimit-Limit-Tokens: 200000
     X-RateLimit-Remaining-Tokens: 61000
     X-RateLimit-Reset-Tokens: 6m0.5s`,
    ['requests 500 212 120', 'tokens 200000 61000 360500 3600000'],
  ],
  [
    'Anthropic',
    `anthropic-ratelimit-requests-limit: 50
     anthropic-ratelimit-requests-remaining: 49
     anthropic-ratelimit-requests-reset: 2026-11-27T12:00:01Z
     anthropic-ratelimit-input-tokens-limit: 40000
     anthropic-ratelimit-input-tokens-remaining: 0
     anthropic-ratelimit-input-tokens-reset: 2026-11-27T13:00:30+01:00
     anthropic-ratelimit-output-tokens-remaining: 8000`,
    ['requests 50 49 1000', 'input_tokens 40000 0 30000', 'output_tokens - 8000 -'],
  ],
  [
    'OpenRouter: an instant in milliseconds',
    `X-RateLimit-Limit: 20
     X-RateLimit-Remaining: 3
     X-RateLimit-Reset: ${nowMs + 14_000}`,
    ['requests 20 3 14000'],
  ],
  [
    'a day without its name: Groq’s and OpenAI’s requests',
    `x-ratelimit-limit-requests: 1000
     x-ratelimit-remaining-requests: 2
     x-ratelimit-reset-requests: 23h57m7.2s`,
    ['requests 1000 2 86227200 86400000'],
  ],
  [
    'an instant by the clock of the provider, which is an hour ahead',
    `Date: Fri, 27 Nov 2026 13:00:00 GMT
     anthropic-ratelimit-requests-remaining: 0
     anthropic-ratelimit-requests-reset: 2026-11-27T13:00:05Z`,
    ['requests - 0 5000'],
  ],
  [
    'an instant in seconds',
    `x-ratelimit-remaining: 3
     x-ratelimit-reset: ${nowMs / 1000 + 14}`,
    ['requests - 3 14000'],
  ],
  [
    'Cerebras: a day and a minute',
    `x-ratelimit-limit-requests-day: 14400
     x-ratelimit-remaining-requests-day: 14399
     x-ratelimit-reset-requests-day: 43200.5
     x-ratelimit-limit-tokens-minute: 60000
     x-ratelimit-remaining-tokens-minute: 59000
     x-ratelimit-reset-tokens-minute: 12.25`,
    ['requests 14400 14399 43200500 86400000', 'tokens 60000 59000 12250'],
  ],
  [
    'Mistral',
    `x-ratelimit-limit-req-minute: 60
     x-ratelimit-remaining-req-minute: 59`,
    ['requests 60 59 -'],
  ],
  [
    'Fireworks',
    `x-ratelimit-limit-tokens-prompt: 9
     x-ratelimit-remaining-tokens-generated: 8`,
    ['input_tokens 9 - -', 'output_tokens - 8 -'],
  ],
  [
    'the drafts of the IETF',
    `RateLimit-Limit: 100, 100;w=60
     RateLimit-Remaining: 50
     RateLimit-Reset: 30`,
    ['requests 100 50 30000'],
  ],
  ['an older draft', 'RateLimit: limit=100, remaining=50, reset=30', ['requests 100 50 30000']],
  [
    'the newest draft',
    `RateLimit-Policy: "burst";q=100;w=60
     RateLimit: "burst";r=50;t=30`,
    ['requests 100 50 30000'],
  ],
  [
    'two that contradict each other: the one that leaves less',
    `x-ratelimit-remaining-requests: 7
     ratelimit-remaining: 3
     x-ratelimit-limit-requests: 9`,
    ['requests 9 3 -'],
  ],
  [
    'a reset in the past, and one that cannot be',
    `x-ratelimit-remaining-requests: 7
     x-ratelimit-reset-requests: 2020-01-01T00:00:00Z
     x-ratelimit-remaining-tokens: 8
     x-ratelimit-reset-tokens: 1000000000s`,
    ['requests - 7 0', 'tokens - 8 -'],
  ],
  [
    'no numbers',
    `x-ratelimit-remaining-requests: many
     x-ratelimit-limit-tokens: -1
     x-ratelimit-reset: 5`,
    [],
  ],
  ['other headers', 'retry-after: 5\nx-request-id: ratelimit', []],
]

const headersIn = (text: string): string[][] => text.split('\n').map((line) => line.trim().split(/: (.*)/, 2))

for (const [what, headers, limits] of cases) {
  test(`limits of a provider are read: ${what}`, () => {
    const read = readLimits(headersIn(headers).flat(), nowMs).map(
      ({ kind, limit, remaining, resetMs, windowMs }) =>
        [kind, ...[limit, remaining, resetMs].map((figure) => figure ?? '-')]
          .concat(windowMs === 60_000 ? [] : windowMs)
          .join(' '),
    )
    assert.deepEqual(read, limits)
  })
}

test('whatever the headers say, what is read is plausible', () => {
  const name = fc.constantFrom(...cases.flatMap(([, headers]) => headersIn(headers).map(([name]) => name!)))
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(...cases.flatMap(([, headers]) => headersIn(headers).map(([, text]) => text!))),
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
