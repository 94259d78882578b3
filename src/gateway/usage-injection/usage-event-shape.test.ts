import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageEventShape } from './usage-event-shape.ts'

/** The verdict, and after how many bytes it was `no`. */
function judge(text: string): { readonly verdict: string; readonly seen: string } {
  const bytes = Buffer.from(text)
  const shape = new UsageEventShape()
  for (let i = 0; i < bytes.length; i++) {
    shape.push(bytes, i, i + 1)
    if (shape.verdict === 'no') return { verdict: 'no', seen: text.slice(0, i + 1) }
  }
  const whole = new UsageEventShape()
  whole.push(bytes, 0, bytes.length)
  assert.equal(whole.verdict, shape.verdict)
  return { verdict: shape.verdict, seen: text }
}

const yes = [
  '{"choices":[],"usage":{}}',
  ' { "choices" : [ ] , "usage" : { "total_tokens" : 3 } } ',
  '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":null,"system_fingerprint":"fp","choices":[],"usage":{"prompt_tokens":1,"details":{"a":[1,"}"]}},"obfuscation":"x\\"]}"}',
  '{"created":-1.5e3,"usage":{"a":"{"},"choices":[]}',
]
for (const text of yes) {
  test(`is usage alone: ${text}`, () => {
    assert.equal(judge(text).verdict, 'yes')
    for (let end = 1; end < text.trimEnd().length; end++)
      assert.equal(judge(text.slice(0, end)).verdict, 'open', text.slice(0, end))
  })
}

/** Each is known not to be it at the `│`. */
const no = [
  '[│DONE]',
  'n│ull',
  '{"id":"1","choices":[{│"delta":{}}],"usage":{}}',
  '{"choices":n│ull,"usage":{}}',
  '{"choices":[],"usage":n│ull}',
  '{"choices":[],"usage":{},"timings"│:{}}',
  '{"choices":[],"usage":{},"provider"│:"x"}',
  '{"choices":[],"usage":{},"x_groq"│:{}}',
  '{"i\\u0064"│:1}',
  '{"system_fingerprints│":1}',
  '{"choices":[]}│',
  '{"usage":{}}│',
  '{}│',
  '{"choices":[],"usage":{}} x│',
  '{"id":"a\n│b","choices":[],"usage":{}}',
  '{"id":tr"│ue","choices":[],"usage":{}}',
]
for (const marked of no) {
  test(`is no usage event: ${JSON.stringify(marked)}`, () => {
    const [before = '', after = ''] = marked.split('│')
    assert.deepEqual(judge(before + after), { verdict: 'no', seen: before })
  })
}
