import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { UsageEventFilter } from './usage-event-filter.ts'
import { draws } from '../../../test/support/draws.ts'

const content =
  '{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"wéir"}}],"usage":null}'
const usage =
  '{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"total_tokens":5}}'

/** Blocks of a stream as lines, the last of which is blank, and whether they are to be left out. */
const blocks: readonly { readonly lines: readonly string[]; readonly out?: true }[] = [
  { lines: [`data: ${content}`, ''] },
  { lines: [`data:${content}`, ''] },
  { lines: [': keep-alive', ''] },
  { lines: [''] },
  { lines: ['data: [DONE]', ''] },
  { lines: ['data', ''] },
  { lines: ['event: ping', ''] },
  { lines: ['retry: 3000', ''] },
  { lines: ['error: {"code":500}', ''] },
  { lines: ['data: {"choices":[],"usage":null}', ''] },
  { lines: ['data: {"choices":[],"prompt_filter_results":[],"usage":{}}', ''] },
  { lines: [`data: ${usage.slice(0, -1)},"timings":{"predicted_n":2}}`, ''] },
  { lines: ['retry: 1', `data: ${usage}`, ''] },
  { lines: [`data: ${usage}`, 'data: more', ''] },
  { lines: [`data: ${usage.replace('c-1', 'c')}`, ''], out: true },
  { lines: [`data:${usage}`, ''], out: true },
  { lines: ['event: message', 'id: 7', `data: ${usage}`, ''], out: true },
  { lines: ['data: {"choices":[],', 'data:  "usage":{}}', ''], out: true },
  { lines: [`data: ${usage}`, ': a comment within', ''], out: true },
]

/** All that a filter lets through, and what it did with each chunk. */
function filtered(chunks: readonly Buffer[], restoresTimings = false, holdLimit?: number) {
  const filter = new UsageEventFilter(restoresTimings, holdLimit)
  const steps = chunks.map((chunk) => filter.push(chunk))
  const rest = filter.end(true)
  const out = Buffer.concat([...steps, rest].filter((piece) => piece !== null))
  return { out: out.toString('latin1'), steps, rest, removed: filter.removedEvents }
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
}

function bytewise(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.of(byte))
}

test('takes out the usage events and nothing else, whatever the line ends, the order and the splits', () => {
  const stream = fc.array(fc.constantFrom(...blocks), { maxLength: 8, size: 'max' })
  const cuts = fc.array(fc.nat(5000), { maxLength: 12, size: 'max' })
  fc.assert(
    fc.property(stream, fc.constantFrom('\n', '\r\n', '\r'), cuts, (parts, newline, at) => {
      const text = (chosen: typeof parts): string =>
        chosen.map(({ lines }) => lines.map((line) => line + newline).join('')).join('')
      const bytes = Buffer.from(text(parts))
      const remaining = parts.filter(({ out }) => out !== true)
      const expected = Buffer.from(text(remaining)).toString('latin1')
      for (const chunks of [[bytes], cutAt(bytes, at), bytewise(bytes)]) {
        const { out, removed } = filtered(chunks)
        assert.equal(out, expected)
        assert.equal(removed, parts.length - remaining.length)
      }
    }),
    { numRuns: draws(500) },
  )
})

test('whatever the bytes, nothing is lost that is not such an event, and a break gives all of it', () => {
  const bits = ['data', ':', ' ', '\n', '\r', ...'{"choices":[],"usage":{}} { } [ "usage":{ , é'.split(' ')]
  const soup = fc.array(fc.constantFrom(...bits), { maxLength: 30, size: 'max' })
  fc.assert(
    fc.property(soup, fc.array(fc.nat(300), { maxLength: 6 }), (parts, at) => {
      const bytes = Buffer.from(parts.join(''))
      const inOnePiece = filtered([bytes])
      const inPieces = filtered(cutAt(bytes, at))
      assert.equal(inPieces.out, inOnePiece.out)
      assert.equal(filtered(bytewise(bytes)).out, inOnePiece.out)
      if (inOnePiece.removed === 0) assert.equal(inOnePiece.out, bytes.toString('latin1'))
      const filter = new UsageEventFilter()
      const passed = [filter.push(bytes), filter.end(false)].filter((piece) => piece !== null)
      if (filter.removedEvents === 0) assert.deepEqual(Buffer.concat(passed), bytes)
    }),
    { numRuns: draws(2000) },
  )
})

for (const error of [
  'data: {"choices":[],"error":{"message":"boom"},"usage":{}}',
  'data: {"usage":{},"error":"boom"}',
  'data: {"choices":[{"index":0,"delta":{},"error":{"code":502}}],"usage":{}}',
  'data: {"choices":[],"x_groq":{"error":"boom"},"usage":{}}',
  'data: {"type":"error","message":"boom","usage":{}}',
  'event: error\ndata: {"message":"boom","usage":{}}',
]) {
  test(`after the finish reason, the client still gets ${error}`, () => {
    const text = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n${error}\n\n`
    for (const restoresTimings of [false, true])
      assert.equal(filtered([Buffer.from(text)], restoresTimings).out, text)
  })
}

test('after the finish reason, an error that is null makes no event stay', () => {
  const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
  const text = `${finish}data: {"choices":[],"error":null,"usage":{}}\n\n`
  assert.equal(filtered([Buffer.from(text)]).out, finish)
})

test('a chunk in which nothing is found goes on as the very same object', () => {
  const filter = new UsageEventFilter()
  for (const text of [`data: ${content}\n\n`, ': ping\n\n', `data: ${content}\n\ndata: ${content}\r\n\r\n`]) {
    const chunk = Buffer.from(text)
    assert.equal(filter.push(chunk), chunk)
  }
})

test('bytes are held only as long as they may be the begin of a usage event', () => {
  const filter = new UsageEventFilter()
  const passed = (text: string): string => filter.push(Buffer.from(text))?.toString() ?? ''
  assert.equal(passed(`data: ${content}\n\nda`), `data: ${content}\n\n`)
  assert.equal(passed('ta: {"id":"1","choices":['), '')
  assert.equal(passed('{'), 'data: {"id":"1","choices":[{')
  assert.equal(passed('"delta":{}}]'), '"delta":{}}]')
  assert.equal(passed('}\n\n: a com'), '}\n\n: a com')
  assert.equal(passed('ment\ndata: {"choices":[],"us'), 'ment\n')
  assert.equal(passed('age":{"total_tokens":3}'), '')
  assert.equal(passed('}\r'), '')
  assert.equal(passed('\n\r'), '')
  assert.equal(filter.removedEvents, 1)
  assert.equal(passed('\ndata: [DONE]\r\n\r\n'), 'data: [DONE]\r\n\r\n')
})

test('an event that is longer than may be held is passed on', () => {
  const long = `data: ${usage.replace('"c-1"', JSON.stringify('x'.repeat(200)))}\n\n`
  const one = filtered(bytewise(Buffer.from(long)), false, 100)
  assert.deepEqual([one.out, one.removed], [long, 0])
  assert.deepEqual(filtered(bytewise(Buffer.from(long)), false, 400).out, '')
})

test('the last event lacks its blank line: taken out at the end, passed on before a break', () => {
  const open = `data: [X]\n\ndata: ${usage}`
  for (const end of ['', '\n']) {
    assert.deepEqual(filtered([Buffer.from(open + end)]).out, 'data: [X]\n\n')
    const filter = new UsageEventFilter()
    assert.equal(filter.push(Buffer.from(open + end))?.toString(), 'data: [X]\n\n')
    assert.equal(filter.end(false)?.toString(), `data: ${usage}${end}`)
  }
  assert.deepEqual(filtered([Buffer.from('data: {"choices":[]')]).out, 'data: {"choices":[]')
})

const rest = '"created":1,"id":"c-1","model":"m","object":"chat.completion.chunk"'
const timings = ',"timings":{"cache_n":4,"prompt_n":3,"text":"\\",\\"timings\\":{}}"}'
const word = `data: {"choices":[{"finish_reason":null,"delta":{"content":"},\\"timings\\":{ wéir"}}],${rest}}\n\n`
const last = (member: string): string =>
  `data: {"choices":[{"finish_reason":"stop","delta":{}}],${rest}${member}}\n\n`
const llamaUsage = (member: string): string =>
  `data: {"choices":[],${rest},"usage":{"total_tokens":5}${member}}\n\n`

/** Pieces of llama.cpp's streams asked for usage, and what they would have been without. */
const llamaPieces: readonly (readonly [sent: string, expected: string])[] = [
  [word, word],
  [': ping\n\n', ': ping\n\n'],
  ['data: [DONE]\n\n', 'data: [DONE]\n\n'],
  ['data: {"error":{"code":500}}\n\n', 'data: {"error":{"code":500}}\n\n'],
  [last('') + llamaUsage(timings), last(timings)],
  [last('') + llamaUsage(''), last('')],
  [last(timings), last(timings)],
  [word + last('') + word, word + last('') + word],
  [`${last('')}:\n\n${llamaUsage(timings)}`, `${last('')}:\n\n${llamaUsage(timings)}`],
  [last('') + llamaUsage(`${timings},"more":1`), last('') + llamaUsage(`${timings},"more":1`)],
  [`:\n\n${llamaUsage(timings)}`, `:\n\n${llamaUsage(timings)}`],
]

test("llama.cpp's timings go back to the choice's last event, whatever the order and the splits", () => {
  const stream = fc.array(fc.constantFrom(...llamaPieces), { maxLength: 8, size: 'max' })
  const cuts = fc.array(fc.nat(5000), { maxLength: 12, size: 'max' })
  fc.assert(
    fc.property(stream, cuts, (parts, at) => {
      const bytes = Buffer.from(parts.map(([sent]) => sent).join(''))
      const expected = Buffer.from(parts.map(([, output]) => output).join('')).toString('latin1')
      for (const chunks of [[bytes], cutAt(bytes, at), bytewise(bytes)]) {
        assert.equal(filtered(chunks, true).out, expected)
      }
    }),
    { numRuns: 500, seed: 23 },
  )
})

test("llama.cpp's words go on at once, a choice's last event with the next or before a break", () => {
  const filter = new UsageEventFilter(true)
  const passed = (text: string): string =>
    Buffer.from(filter.push(Buffer.from(text)) ?? []).toString('latin1')
  const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
  const cut = word.indexOf('"delta"')
  assert.equal(passed(word.slice(0, cut)), word.slice(0, cut))
  assert.equal(passed(word.slice(cut)), latin1(word.slice(cut)))
  assert.equal(passed(last('')), '')
  assert.equal(passed(word), latin1(last('') + word))
  assert.equal(passed(last('') + llamaUsage(timings).slice(0, -1)), '')
  assert.equal(filter.end(false)?.toString(), last('') + llamaUsage(timings).slice(0, -1))
})

const finish =
  '{"id":"c-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
const counts = '"usage":{"prompt_tokens":3,"total_tokens":5}'
const askedFor = [
  `{"id":"c-1","choices":[],"provider":"p","stats":{},"cost":0.001,${counts}}`,
  `{"id":"c-1","choices":[{"index":0,"delta":{}}],${counts}}`,
  `{"id":"c-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],${counts}}`,
  `{"choices":[{"index":0,"text":"","finish_reason":null}],${counts}}`,
  `{"choices":[{"index":0,"delta":{},"finish_reason":""}],${counts}}`,
  `{"id":"c-1",${counts}}`,
  `{"choices": null, ${counts}}`,
]
const staying = [
  `{"choices":[{"index":0,"delta":{"content":"more"}}],${counts}}`,
  `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}],${counts}}`,
  '{"choices":[],"metadata":{"a":1},"usage":null}',
]

for (const [what, events, isOut] of [
  ...askedFor.map((data) => [data, [content, finish, data], true] as const),
  ...staying.map((data) => [data, [content, finish, data], false] as const),
  ...askedFor.slice(1).map((data) => [`${data} before the end`, [content, data, content], false] as const),
]) {
  test(`after a finish reason goes what adds nothing but a usage: ${what}`, () => {
    const text = (of: readonly string[]): string => of.map((data) => `data: ${data}\n\n`).join('')
    const bytes = Buffer.from(`${text(events)}data: [DONE]\n\n`)
    const remaining = `${text(isOut ? events.slice(0, -1) : events)}data: [DONE]\n\n`
    const expected = Buffer.from(remaining).toString('latin1')
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.equal(filtered([bytes.subarray(0, cut), bytes.subarray(cut)]).out, expected, `cut at ${cut}`)
    }
    assert.equal(filtered(bytewise(bytes)).out, expected)
  })
}
