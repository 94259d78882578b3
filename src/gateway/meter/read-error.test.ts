import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestLooked } from '../../call/error-message.ts'
import { readError } from './read-error.ts'

const cases: readonly [
  what: string,
  parsed: unknown,
  status: number,
  code: string | null,
  message: string | null,
][] = [
  ['OpenAI', { error: { message: 'm', type: 't', param: null, code: 'c' } }, 429, 'c', 'm'],
  ['no code', { error: { message: 'm', type: 't', code: null } }, 400, 't', 'm'],
  ['a number that is not the status', { error: { message: 'm', type: 't', code: 500 } }, 200, '500', 'm'],
  ['a number that is the status', { error: { message: 'm', type: 't', code: 503 } }, 503, 't', 'm'],
  ['TGI', { error: 'm', error_type: 't' }, 429, 't', 'm'],
  ['old vLLM', { object: 'error', message: 'm', type: 't', code: 400 }, 400, 't', 'm'],
  ['Gemini', [{ error: { code: 404, message: 'm', status: 'NOT_FOUND' } }], 404, null, 'm'],
  ['Anthropic', { type: 'error', error: { type: 't', message: 'm' } }, 529, 't', 'm'],
  [
    'Responses, failed',
    { type: 'response.failed', response: { error: { code: 'c', message: 'm' } } },
    200,
    'c',
    'm',
  ],
  ['Responses, error', { type: 'error', code: 'c', message: 'm' }, 200, 'c', 'm'],
  ['Responses, error without a code', { type: 'error', code: null, message: 'm' }, 200, null, 'm'],
  ['Groq', { x_groq: { error: 'm' } }, 200, null, 'm'],
  ['FastAPI', { detail: [{ type: 't', loc: [], msg: 'm' }] }, 422, null, 'm'],
  ['FastAPI with a text', { detail: 'm' }, 404, null, 'm'],
  ['nothing known', { oops: true }, 500, null, null],
  ['no object', 7, 500, null, null],
]

for (const [what, parsed, status, code, message] of cases) {
  test(`the error of ${what}`, () => assert.deepEqual(readError(parsed, status), { code, message }))
}

test('of a message no more is handed on than is looked at', () => {
  assert.equal(readError({ error: { message: 'x'.repeat(9000) } }, 400).message?.length, longestLooked)
})
