import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RequestFacts, RequestPeek } from './request-peek.ts'

const nothing: RequestFacts = {
  isObject: false,
  model: null,
  modelPlace: null,
  stream: false,
  firstAt: 0,
  streamOptions: null,
  hasIncludeUsage: false,
  tokensAsked: 0,
  promptCacheKey: null,
  user: null,
  safetyIdentifier: null,
  metadata: undefined,
  isUnreadable: false,
}

function factsOf(chunks: readonly Uint8Array[]): RequestFacts {
  const peek = new RequestPeek()
  for (const chunk of chunks) peek.push(chunk)
  return peek.result()
}

const longKey = 'k'.repeat(200)
const optionsAt = (
  start: number,
  end: number,
  value: Record<string, unknown> | null,
): Partial<RequestFacts> => ({
  streamOptions: { start, end, value },
  hasIncludeUsage: value !== null && 'include_usage' in value,
})
const cases: readonly [what: string, body: string, facts: Partial<RequestFacts>][] = [
  ['a chat request', '{"model":"m-1","messages":[{"role":"user","content":"hi"}]}', { model: 'm-1' }],
  ['stream: true', '{"stream":true}', { stream: true }],
  ['stream: false', '{"stream":false}', {}],
  ['stream as a text is not true', '{"stream":"true"}', {}],
  ['of several limits the highest', '{"max_tokens":7,"max_completion_tokens":6}', { tokensAsked: 7 }],
  [
    'who calls',
    '{"prompt_cache_key":"run-\\u0031","user":"u","safety_identifier":"s","metadata":{"team":"a"}}',
    { promptCacheKey: 'run-1', user: 'u', safetyIdentifier: 's', metadata: { team: 'a' } },
  ],
  [
    'nothing that is too long, or no text',
    `{"prompt_cache_key":"${longKey}k","user":7,"safety_identifier":["s"],"metadata":null}`,
    { metadata: null },
  ],
  ['a session of 200 bytes', `{"prompt_cache_key":"${longKey}"}`, { promptCacheKey: longKey }],
  ['of a key that comes twice the last', '{"user":"one","user":"two"}', { user: 'two' }],
  ['a limit of the Responses API', '{"max_output_tokens":7}', { tokensAsked: 7 }],
  ['limits that bound nothing', '{"max_tokens":-1,"max_completion_tokens":null,"max_output_tokens":[9]}', {}],
  ['a limit with an exponent', '{"max_tokens":1e3}', { tokensAsked: 1000 }],
  ['a limit in quotes', '{"max_tokens":"2000"}', { tokensAsked: 2000 }],
  ['a limit with a fraction', '{"max_tokens":10.5}', { tokensAsked: 11 }],
  ['a limit beyond counting', '{"max_tokens":100000000000000000000}', { tokensAsked: Infinity }],
  ['a limit beyond all numbers', '{"max_tokens":1e400}', { tokensAsked: Infinity }],
  ['a limit of many digits', `{"max_tokens":1${'0'.repeat(400)}}`, { tokensAsked: Infinity }],
  ['a limit for each of several choices', '{"max_tokens":20,"n":100}', { tokensAsked: 2000 }],
  ['choices in quotes', '{"n":"3","max_tokens":20}', { tokensAsked: 60 }],
  ['choices of which the best is taken', '{"max_tokens":20,"n":1,"best_of":4}', { tokensAsked: 80 }],
  ['choices without a limit', '{"n":1e400}', {}],
  ['no choices', '{"max_tokens":20,"n":0}', { tokensAsked: 20 }],
  ['stream options', '{"stream_options": {"x":1} }', optionsAt(19, 26, { x: 1 })],
  ['stream options that are null', '{"stream_options":null}', optionsAt(18, 22, null)],
  [
    'include_usage: true',
    '{"stream_options":{"include_usage":true}}',
    optionsAt(18, 40, { include_usage: true }),
  ],
  [
    'include_usage: false',
    '{"stream_options":{"include_usage":false}}',
    optionsAt(18, 41, { include_usage: false }),
  ],
  ['include_usage elsewhere', '{"messages":{"include_usage":true}}', {}],
  ['the last of duplicates', '{"model":"m-1","stream":true,"model":"m-2","stream":false}', { model: 'm-2' }],
  ['escaped keys', String.raw`{"mod\u0065l":"m-\u0031","\u0073tream":true}`, { model: 'm-1', stream: true }],
  ['a model that is no text', '{"model":{"name":"m-1"}}', {}],
  [
    'a prompt that looks like a request',
    String.raw`{"prompt":"{\"model\":\"x\",\"stream\":true}","model":"m"}`,
    { model: 'm' },
  ],
]

for (const [what, body, facts] of cases) {
  test(`reads off ${what}`, () => {
    const bytes = Buffer.from(body)
    const { modelPlace } = factsOf([bytes])
    const expected = { ...nothing, isObject: true, ...facts, modelPlace }
    assert.deepEqual(factsOf([bytes]), expected)
    // A client that gives the model another name writes it there.
    const renamed =
      bytes.toString('latin1', 0, modelPlace?.start) + '"there"' + bytes.toString('latin1', modelPlace?.end)
    if (expected.model !== null) assert.equal((JSON.parse(renamed) as { model: unknown }).model, 'there')
    for (let cut = 1; cut < bytes.length; cut++) {
      assert.deepEqual(factsOf([bytes.subarray(0, cut), bytes.subarray(cut)]), expected)
    }
  })
}

for (const body of ['', 'not json', '[{"model":"m"}]', '"model"', '{"stream":tr']) {
  test(`${JSON.stringify(body)} is no JSON object, and no fact is made up`, () => {
    assert.deepEqual(factsOf([Buffer.from(body)]), nothing)
  })
}

test('stream options too long to look into count as asking for usage already', () => {
  const body = JSON.stringify({ stream_options: { filler: 'x'.repeat(5000) } })
  assert.equal(factsOf([Buffer.from(body)]).hasIncludeUsage, true)
})

test('a key that comes after twenty megabytes of prompt is found', () => {
  const chunk = Buffer.alloc(1_000_000, 'x')
  const facts = factsOf([
    Buffer.from('{"messages":[{"content":"'),
    ...Array.from({ length: 20 }, () => chunk),
    Buffer.from('"}],"model":"m"}'),
  ])
  assert.equal(facts.model, 'm')
})
