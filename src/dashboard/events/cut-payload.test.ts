import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cutPayload } from './cut-payload.ts'

const keptLength = 64 * 1024
const record = { id: '0', seq: 1, headers: { a: ['b'] }, body: {}, truncated: false, text: null }

function cut(changes: object): Record<string, unknown> {
  return JSON.parse(cutPayload(JSON.stringify({ ...record, ...changes }))) as Record<string, unknown>
}

test('a record that is short is not touched', () => {
  const json = JSON.stringify({ ...record, body: 'x'.repeat(60_000) })
  assert.equal(cutPayload(json), json)
})

test('of a long JSON body the beginning of its text is kept, and that is said', () => {
  const body = { messages: Array.from({ length: 5000 }, (_, at) => ({ role: 'user', content: `é ${at}` })) }
  const { body: text, truncated, ...rest } = cut({ body })
  assert.ok(JSON.stringify(body).startsWith(String(text)))
  assert.equal(String(text).length, keptLength)
  assert.equal(truncated, true)
  assert.deepEqual(rest, { id: '0', seq: 1, headers: { a: ['b'] }, text: null })
})

test('what was put together from a stream is cut too, and its call says only of the body that it was', () => {
  const toolCalls = [1, 2].map((at) => ({ id: `${at}`, name: 'write', arguments: 'y'.repeat(50_000) }))
  const { text, tool_calls, truncated, body } = cut({ text: 'x'.repeat(100_000), tool_calls: toolCalls })
  assert.equal(text, 'x'.repeat(keptLength))
  assert.deepEqual(
    (tool_calls as typeof toolCalls).map((call) => call.arguments.length),
    [50_000, keptLength - 50_000],
  )
  assert.deepEqual([truncated, body], [false, {}])
})

test('a text of few characters that take many bytes is whole, and so it is told', () => {
  const body = 'é'.repeat(40_000)
  assert.deepEqual(cut({ body }), { ...record, body })
})

test('base64 is cut to what can still be decoded', () => {
  const bytes = Buffer.alloc(100_000, 'abcdefg')
  const { body } = cut({ body: bytes.toString('base64'), body_encoding: 'base64' })
  assert.deepEqual(Buffer.from(String(body), 'base64'), bytes.subarray(0, (keptLength / 4) * 3))
})

test('a text is cut in no character and in no escape', () => {
  const unit = fc.constantFrom('a', '\\', '"', '\n', '\u0001', 'é', '😀', '\u2028', 'u', 'd83d')
  const written = fc.constantFrom((json: string) => json, escaped)
  fc.assert(
    fc.property(fc.string({ unit, minLength: 20, maxLength: 40, size: 'max' }), written, (end, write) => {
      const body = `${'x'.repeat(keptLength - 20)}${end}${'y'.repeat(100)}`
      const json = write(JSON.stringify({ ...record, body }))
      const text = String((JSON.parse(cutPayload(json)) as { readonly body: unknown }).body)
      assert.ok(body.startsWith(text))
      assert.ok(text.isWellFormed())
      assert.ok(text.length > keptLength - 40)
    }),
  )
})

/** As a writer that keeps to ASCII would have it. */
function escaped(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
