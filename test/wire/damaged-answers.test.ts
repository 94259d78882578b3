import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allWireForms } from './all-wire-forms.ts'
import { meterFormNow } from './meter-form.ts'
import type { AnswerColumns, WireForm } from './wire-form.ts'
import { draws } from '../support/draws.ts'

/**
 * Members that amend others. Where one of them is not there, or has another name, the rest reads as an upstream's
 * that never had it; nobody can tell. What stands in them instead of a number can be told, and is.
 */
const amending =
  /"(?:total_tokens|cache_read_input_tokens|cache_creation_input_tokens|prompt_tokens_details|audio_tokens|iterations)"|"type":"compaction"/g

const forms = allWireForms.filter(
  ({ columns }) => columns.usage_source !== 'none' || columns.search_units !== null,
)

const parts = [
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
] as const
const reported = [
  'input_audio_tokens',
  'output_audio_tokens',
  'search_units',
  'audio_ms',
  'image_tokens',
  'cost_usd',
  'upstream_queue_ms',
  'upstream_prompt_ms',
  'upstream_decode_ms',
] as const

/** Each number is the true one (or an earlier event's), or none; a part that went missing is zero. */
function assertHonest(form: WireForm, columns: AnswerColumns, what: string): void {
  const truth = form.columns
  const pairs = [[truth.input_tokens, truth.output_tokens], ...form.earlier, [null, null]]
  const { input_tokens: input, output_tokens: output } = columns
  assert.ok(
    pairs.some((pair) => pair[0] === input && pair[1] === output),
    `${what}: input ${input}, output ${output}`,
  )
  for (const name of parts) {
    assert.ok([truth[name], 0, null].includes(columns[name]), `${what}: ${name} ${columns[name]}`)
  }
  for (const name of reported) {
    assert.ok([truth[name], null].includes(columns[name]), `${what}: ${name} ${columns[name]}`)
  }
}

function withBytes(form: WireForm, body: Buffer | string): AnswerColumns {
  return meterFormNow(form, [Buffer.from(body as string)]).columns
}

const noCounts = ['"7"', '-7', '7.5', '7e9', 'true', '[7]', '{"n":7}', '"many"', '1e999']

for (const form of forms) {
  test(`${form.name}: what stands in the place of a number is not taken for one`, () => {
    const text = form.body.toString()
    let tried = 0
    for (const match of text.matchAll(
      /"(\w*(?:tokens|_n|units|cost|ticks|_ms|_time|seconds))": ?([\d.e-]+)/g,
    )) {
      const [member, name, value] = match as unknown as [string, string, string]
      for (const instead of noCounts) {
        // Times and money may have fractions, and may be large.
        if (/_ms|_time|cost|ticks|seconds/.test(name) && instead.startsWith('7')) continue
        // Money may be told as text.
        if (name.endsWith('cost') && instead === '"7"') continue
        const damaged =
          text.slice(0, match.index) + `"${name}":${instead}` + text.slice(match.index + member.length)
        assertHonest(form, withBytes(form, damaged), `${name} is ${instead} and not ${value}`)
        tried++
      }
    }
    assert.ok(tried > 0)
  })

  test(`${form.name}: a member of another name, or one level off, is no known member`, () => {
    const text = form.body.toString()
    for (const match of text.matchAll(/"(\w+)":/g)) {
      const [member, name] = match as unknown as [string, string]
      if (isWithinAmending(form, match.index)) continue
      const renamed = text.slice(0, match.index) + `"x_${name}":` + text.slice(match.index + member.length)
      assertHonest(form, withBytes(form, renamed), `${name} is called x_${name}`)
    }
    const wrapped = text.replaceAll(/\{.*\}/g, (json) => withUsageWrapped(json))
    assertHonest(form, withBytes(form, wrapped), 'usage is one level deeper')
  })
}

function withUsageWrapped(json: string): string {
  return JSON.stringify(JSON.parse(json), (key, value: unknown) => (key === 'usage' ? { v: value } : value))
}

/** Whether the counts rest on a member that another upstream would not have. */
function isAmended({ columns, body }: WireForm): boolean {
  const text = body.toString()
  return (
    /cache_read_input_tokens|prompt_audio_seconds/.test(text) ||
    !text.includes(`"completion_tokens":${columns.output_tokens}`)
  )
}

test('one damaged byte that is no digit makes no number', () => {
  const damage = fc.record({ at: fc.nat(), byte: fc.constantFrom(...Buffer.from('x"{}[]:, \n\r\\\u00E9')) })
  let hits = 0
  fc.assert(
    fc.property(fc.constantFrom(...forms), damage, (form, { at, byte }) => {
      const bytes = Buffer.from(form.body)
      const place = at % bytes.length
      if (/[\d.]/.test(String.fromCharCode(bytes[place]!)) || isWithinAmending(form, place)) return
      bytes[place] = byte
      hits++
      assertHonest(form, withBytes(form, bytes), `byte ${place} is ${byte}`)
    }),
    { numRuns: draws(4000) },
  )
  assert.ok(hits > draws(2000))
})

/** Damage that once made a number: found by `npm run fuzz`. */
const damaging: readonly (readonly [form: string, whole: string, damaged: string])[] = [
  ['chat of xAI', '"completion_tokens":9,', '"completion_tokens":9}'],
]

for (const [name, whole, damaged] of damaging) {
  test(`${name}: ${whole} as ${damaged} makes no number`, () => {
    const form = forms.find((one) => one.name === name)
    assert.ok(form !== undefined && form.body.includes(whole))
    assertHonest(form, withBytes(form, form.body.toString().replace(whole, damaged)), damaged)
  })
}

test('an event that is no JSON reports nothing, whatever stands before the fault', () => {
  const form = forms.find(({ name }) => name.startsWith('xAI, cumulative'))
  assert.ok(form !== undefined)
  const broken = form.body.toString().replaceAll(/(?<="completion_tokens":\d+),/g, '}')
  assert.deepEqual(withBytes(form, broken).input_tokens, null)
})

function isWithinAmending(form: WireForm, place: number): boolean {
  if (!isAmended(form)) return false
  return form.body
    .toString('latin1')
    .matchAll(amending)
    .some((match) => place >= match.index && place <= match.index + match[0].length)
}

test('whatever JSON an answer is, nothing is made up and nothing throws', () => {
  const paths = ['/v1/chat/completions', '/v1/embeddings', '/v1/rerank', '/v1/messages', '/v1/files'] as const
  const [body, stream] = [allWireForms.find(isJson)!, allWireForms.find((form) => !isJson(form))!]
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(...paths), fc.boolean(), (json, path, streamed) => {
      const form = { ...(streamed ? stream : body), path }
      const columns = withBytes(form, streamed ? `data: ${json}\n\n` : json)
      assert.deepEqual(
        [columns.input_tokens, columns.output_tokens, columns.cost_usd, columns.search_units],
        [null, null, null, null],
      )
    }),
    { numRuns: draws(1500) },
  )
})

function isJson(form: WireForm): boolean {
  return form.headers.some(([, value]) => value === 'application/json')
}
