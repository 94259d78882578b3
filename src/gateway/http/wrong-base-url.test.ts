import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseUrlAdvice } from './wrong-base-url.ts'

const host = 'gateway.lan:9090'
const cases: readonly (readonly [path: string, words: RegExp | null])[] = [
  ['/chat/completions', /not under \/v1\/: use http:\/\/gateway\.lan:9090\/v1 as the base URL/],
  ['/models', /not under \/v1\//],
  ['/models/org/name', /not under \/v1\//],
  ['/messages', /not under \/v1\//],
  ['/api/v1/chat/completions', /not under \/v1\//],
  ['/openai/deployments/gpt-4o/chat/completions', /puts \/openai before.*upstreams add.*9090\/<name>/],
  ['/openai/v1/chat/completions', /puts \/openai\/v1 before.*--upstream that ends in \/openai\/v1/],
  ['/v1beta/openai/chat/completions', /not under \/v1\//],
  [
    '/v1beta/models/gemini-2.5-flash:generateContent',
    /Gemini's own API.*--upstream https:\/\/generativelang/,
  ],
  ['/v1alpha/models', /Gemini's own API/],
  ['/api/chat', /Ollama's own API.*use http:\/\/gateway\.lan:9090\/v1 as/],
  ['/api/tags', /Ollama's own API/],
  ['/', null],
  ['/v1', null],
  ['/favicon.ico', null],
  ['/api/charts', null],
  ['/mymodels', null],
]

for (const [path, words] of cases) {
  test(`what is told to a call on ${path}`, () => {
    const advice = baseUrlAdvice(path, host)
    if (words === null) assert.equal(advice, null)
    else assert.match(advice ?? '', words)
  })
}

test('a client that names no host is told all the same', () => {
  assert.match(baseUrlAdvice('/models', null) ?? '', /<this gateway>\/v1/)
})
