import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import { RecordComposer } from '../../src/payloads/record/compose-record.ts'
import { allWireForms } from './all-wire-forms.ts'
import type { WireForm } from './wire-form.ts'

const composer = new RecordComposer({ salt: Buffer.alloc(16), maxBodyBytes: 2 ** 20 })

function recordOf(form: WireForm, bytes: number): OutgoingRecord {
  const line = composer.composeAnswer(
    {
      callId: 7_218_000_000_000_000,
      wallTimeMs: 1_795_000_000_000,
      method: form.method,
      path: form.path,
      headers: form.headers.flat(),
      bytes: form.body.subarray(0, bytes),
      totalBytes: form.body.length,
      truncated: bytes < form.body.length,
      model: null,
      stream: true,
      status: form.status,
      outcome: 'ok',
      failureCode: null,
      durationMs: 1,
      chunkOffsetsMs: [],
    },
    1,
  )
  assert.doesNotMatch(line, /[\r\n]/)
  return JSON.parse(line) as OutgoingRecord
}

function saidIn({ text, reasoning, tool_calls }: OutgoingRecord): string[] {
  return [text ?? '', reasoning ?? '', ...(tool_calls ?? []).map((call) => call.arguments)]
}

const streams = allWireForms.filter(({ headers }) =>
  headers.some(([, value]) => value.startsWith('text/event-stream')),
)

for (const form of streams) {
  test(`${form.name}: what is said is put together where something is said`, () => {
    const record = recordOf(form, form.body.length)
    assert.equal(record.body, form.body.toString().replace(/^\ufeff/, ''))
    const isSaid = saidIn(record).some((text) => text !== '') || (record.tool_calls?.length ?? 0) > 0
    assert.equal(isSaid, form.firstContent !== null)
    const [first = -1, visible = -1] = form.firstContent ?? []
    if (visible !== null && visible > first) assert.ok(record.reasoning)
  })

  test(`${form.name}: cut anywhere, what is put together is the beginning of it`, () => {
    const whole = saidIn(recordOf(form, form.body.length))
    for (let bytes = 0; bytes < form.body.length; bytes += 7) {
      const cut = saidIn(recordOf(form, bytes))
      for (const [i, text] of cut.entries()) assert.ok(whole[i]?.startsWith(text), `cut at ${bytes}`)
    }
  })
}

test('every other answer is in its record as it came', () => {
  const isStream = ({ body, headers }: WireForm): boolean =>
    /^\ufeff?\s*(?:data|event|id|retry)?:/.test(body.toString()) ||
    headers.some(([, value]) => value.endsWith('ndjson'))
  for (const form of allWireForms.filter((each) => !streams.includes(each) && !isStream(each))) {
    const { body, text } = recordOf(form, form.body.length)
    // One is about a key that was refused.
    const sent = form.body
      .toString()
      .replace(/^\ufeff/, '')
      .replace('sk-weir-0123456789abcdef', '[secret]')
    assert.equal(text, undefined)
    if (typeof body === 'string') assert.ok(body === sent || JSON.stringify(body) === sent.trim(), form.name)
    else if (form.body.length > 0) assert.deepEqual(body, JSON.parse(sent), form.name)
  }
})
