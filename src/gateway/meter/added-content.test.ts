import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AnswerReader } from './answer-reader.ts'
import { RepeatedEvent } from './added-content.ts'

const head = '"id":"c-1","model":"m"'
const chunk = (delta: string, rest = ''): string =>
  `{${head},"choices":[{"index":0,"delta":${delta}${rest}}]}`
const says = (text: string): string => chunk(`{"content":"${text}"}`)

function learned(data: string): RepeatedEvent {
  const event = new RepeatedEvent()
  const top = JSON.parse(data)
  event.learn(data, 'visible', top, top.choices ?? [])
  return event
}

test('an event that only adds another text is a repeated one', () => {
  const event = learned(says('one'))
  for (const text of ['two', 'one', 'three more', 'ü', '🙂', ': , {'])
    assert.equal(event.contentOf(says(text)), 'visible', text)
  const anthropic = (text: string): string => `{"type":"content_block_delta","delta":{"text":"${text}"}}`
  assert.equal(learned(anthropic('one')).contentOf(anthropic('two')), 'visible')
  const reasoning = (text: string): string => chunk(`{"reasoning_content":"${text}"}`)
  assert.equal(learned(reasoning('one')).contentOf(reasoning('two')), 'visible')
})

test('an event that may say anything else is none', () => {
  const event = learned(says('one'))
  const others = [
    says(''),
    says('\\"},\\"x'),
    says('a"},"finish_reason":"stop","x":{"content":"b'),
    says('a\\n'),
    says('two').replace('c-1', 'c-2'),
    chunk('{"content":"two"}', ',"finish_reason":"stop"'),
    `${says('two')} `,
    '[DONE]',
    '',
  ]
  for (const data of others) assert.equal(event.contentOf(data), null, data)
})

test('nothing is learned of an event whose text cannot be found for sure', () => {
  for (const data of [says('content'), says('m'), says('a\\u0062'), chunk('{"content":""}'), chunk('{}')])
    assert.equal(learned(data).contentOf(data), null, data)
})

test('an answer with repeated events is read as if each were parsed', () => {
  const text = fc.constantFrom('a', 'b', 'content', '', 'stop', '\\n', 'ü', '{}')
  const delta = fc.constantFrom(
    (each: string) => `{"content":"${each}"}`,
    (each: string) => `{"reasoning_content":"${each}"}`,
    (each: string) => `{"tool_calls":[{"index":0,"function":{"name":"${each}"}}]}`,
    (each: string) => `{"content":"${each}","tool_calls":[{"index":0,"function":{"name":"f"}}]}`,
  )
  const ending = fc.constantFrom(
    '',
    ',"finish_reason":null',
    ',"finish_reason":"stop"',
    ',"error":{"code":1}',
  )
  const usage = fc.constantFrom(
    '',
    ',"usage":null',
    ',"usage":{"prompt_tokens":1,"completion_tokens":2}',
    ',"error":"no"',
  )
  /** Events of one form, one after the other, each with its text. */
  const run = fc
    .tuple(delta, ending, usage, fc.array(text, { maxLength: 6 }))
    .map(([form, end, more, texts]) => texts.map((each) => chunk(form(each), end).replace(/\}$/, `${more}}`)))
  fc.assert(
    fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
      const events = runs.flat()
      // A member of its own makes each event one of its kind.
      const unlike = events.map((data, at) => data.replace('{', `{"at":${at},`))
      assert.deepEqual(readingOf(events), readingOf(unlike))
    }),
  )
})

function readingOf(events: readonly string[]): unknown {
  const reader = new AnswerReader({ callType: 'chat', method: 'POST' }, 200)
  const contents = events.map((data) => reader.event(data, false))
  const { model, marked, failed, error, finishReason, streamedReasoning, tools, usageEvents, isEmpty } =
    reader
  const calls = [tools?.count ?? 0, tools?.names ?? null]
  return {
    contents,
    model,
    marked,
    failed,
    error,
    finishReason,
    streamedReasoning,
    calls,
    usageEvents,
    isEmpty,
  }
}
