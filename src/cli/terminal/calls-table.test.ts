import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import * as fc from 'fast-check'
import type { CallJson } from '../../call/call-record.ts'
import { callJson } from '../../../test/support/call-json.ts'
import { callsTable } from './calls-table.ts'
import { displayWidth } from './display-width.ts'

const at = (hour: number, minute: number): Date => new Date(2026, 10, 21, hour, minute, 5)
const nowMs = at(14, 0).getTime()
const started_at = at(9, 3).toISOString()

const nothing = { ttft_ms: null, output_tokens_per_s: null, input_tokens: null, output_tokens: null }
const good = callJson({ started_at })
const limited = callJson({
  ...nothing,
  started_at,
  status: 429,
  outcome: 'upstream_error',
  failed: true,
  failure_code: 'upstream_http',
  upstream_error_code: 'rate_limit_exceeded',
  error_message: 'Rate limit reached.',
  finish_reason: null,
  duration_ms: 210,
})
const abandoned = callJson({
  ...nothing,
  started_at,
  model: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8',
  status: 499,
  outcome: 'client_disconnected',
  failure_code: 'client_gone',
  finish_reason: null,
})

function lines(calls: readonly CallJson[], width: number, color = false, open = false): readonly string[] {
  const table = callsTable(calls, true, { width, color, nowMs, open })
  return [table.header, ...calls.flatMap((call) => table.row(call).split('\n')), table.footer]
}

describe('callsTable', () => {
  it('shows on 80 columns what matters most', () => {
    assert.deepEqual(lines([good, limited, abandoned], 80), [
      'time UTC  model                status   total  queue    TTFT  tok/s     in → out',
      '09:03:05  gpt-5-mini           ✓ 200   3.21 s   0 ms  412 ms   61.3  1,204 → 172',
      '09:03:05  gpt-5-mini           ✗ 429   210 ms   0 ms       –      –      – →   –',
      '  └ upstream_http rate_limit_exceeded: Rate limit reached.',
      '09:03:05  meta-llam…truct-FP8  · 499   3.21 s   0 ms       –      –      – →   –',
      '  └ client_gone',
      '3 calls · 1 failed · 1 left by the client · 1,204 → 172 tokens',
    ])
  })

  it('shows on a wide terminal all that is known', () => {
    const calls = [callJson({ started_at, cost_usd: 0.00042 }), limited, abandoned]
    const [header, first, second, detail, third, footer] = lines(calls, 200)
    const model = 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8'
    const space = ' '.repeat(model.length - 5)
    const titles = 'type         status   total  queue    TTFT  tok/s     in → out      cost  client'
    assert.equal(header, `time UTC  model${space}  ${titles}         end`)
    const chat =
      'chat stream  ✓ 200   3.21 s   0 ms  412 ms   61.3  1,204 → 172  $0.00042  OpenAI/Python  stop'
    assert.equal(first, `09:03:05  gpt-5-mini${space.slice(5)}  ${chat}`)
    assert.match(second ?? '', /✗ 429 .* OpenAI\/Python {2}upstream_http$/)
    assert.equal(detail, '  └ rate_limit_exceeded: Rate limit reached.')
    assert.ok(third?.includes(`  ${model}  chat stream  · 499 `))
    assert.match(third ?? '', /client_gone$/)
    assert.equal(footer, '3 calls · 1 failed · 1 left by the client · 1,204 → 172 tokens · $0.00042')
  })

  it('leaves out what no call knows', () => {
    const header = lines([callJson({ started_at, ttft_ms: null, client: null })], 200)[0]
    assert.match(header ?? '', /queue {2}tok\/s/)
    assert.doesNotMatch(header ?? '', /TTFT|client|cost/)
    assert.match(lines([], 200, false, true)[0] ?? '', /TTFT .*cost .*client .*end/)
  })

  it('gives the date of calls of other days', () => {
    const yesterday = callJson({ started_at: new Date(2026, 10, 20, 22, 0, 0).toISOString() })
    const [header = '', first = '', second = ''] = lines([yesterday, good], 100)
    assert.match(header, /^ {6}time UTC {2}model/)
    assert.match(first, /^11-20 22:00:00 {2}gpt/)
    assert.match(second, /^ {6}09:03:05 {2}gpt/)
  })

  it('colours nothing that the words do not say too', () => {
    for (const width of [80, 200]) {
      const colored = lines([good, limited, abandoned], width, true)
      assert.ok(colored.some((line) => line.includes('\x1b[31m✗ 429')))
      const plain = lines([good, limited, abandoned], width)
      assert.deepEqual(
        colored.map((line) => stripVTControlCharacters(line).trimEnd()),
        plain,
      )
    }
  })

  it('lets nothing of the stored text reach the terminal as a command', () => {
    const evil = '\x1b]0;owned\x07\n\u202e'
    const call = { ...limited, model: evil, client: evil, upstream_error_code: evil, error_message: evil }
    const all = lines([call, callJson({ finish_reason: evil })], 240).join('')
    assert.doesNotMatch(all, /[\p{Cc}\u202e]/u)
  })

  it('keeps to the width and in line, whatever is in it', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '-', '千', '🚀', '\n', '\x1b'),
      maxLength: 40,
      size: 'max',
    })
    const call = fc
      .record({
        model: fc.option(text),
        client: fc.option(text),
        error_message: fc.option(text),
        duration_ms: fc.option(fc.nat(9_999_999)),
        queue_ms: fc.option(fc.nat(99_999)),
        input_tokens: fc.option(fc.nat(2_000_000)),
        cost_usd: fc.option(fc.double({ min: 0, max: 99, noNaN: true })),
        failed: fc.boolean(),
      })
      .map((fields) => callJson({ ...fields, started_at, outcome: fields.failed ? 'upstream_error' : 'ok' }))
    const property = fc.property(
      fc.array(call, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 70, max: 240 }),
      (calls, width) => {
        const all = lines(calls, width)
        for (const line of all) assert.ok(displayWidth(line) <= width, `${displayWidth(line)}: ${line}`)
        const ends = all
          .filter((line) => line.includes('→') && !line.includes('·'))
          .map((line) => displayWidth(line.slice(0, line.indexOf('→'))))
        assert.equal(new Set(ends).size <= 1, true, all.join('\n'))
      },
    )
    fc.assert(property)
  })
})
