import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCompletionRequest } from './completion-request.ts'

const user = { role: 'user', content: 'How high is the water?' }
const tool = (name: string, parameters: unknown = {}): unknown => ({
  type: 'function',
  function: { name, parameters },
})
const result = { role: 'tool', tool_call_id: 'call_1', content: '3' }

test('what cannot be answered is refused with its parameter', () => {
  const model = 'simulated-small'
  const messages = [user]
  const cases: [fields: Record<string, unknown>, status: number, param: string][] = [
    [{ messages }, 400, 'model'],
    [{ model: 7, messages }, 400, 'model'],
    [{ model: 'gpt', messages }, 404, 'model'],
    [{ model: 'simulated-embedder', messages }, 400, 'model'],
    [{ model }, 400, 'messages'],
    [{ model, messages: [] }, 400, 'messages'],
    [{ model, messages: 'hello' }, 400, 'messages'],
    [{ model, messages, max_tokens: 0 }, 400, 'max_tokens'],
    [{ model, messages, max_completion_tokens: 1.5 }, 400, 'max_completion_tokens'],
  ]
  for (const [fields, status, param] of cases) {
    const details = status === 404 ? { param, code: 'model_not_found' } : { param }
    assert.throws(() => readCompletionRequest('chat', fields), { name: 'ApiError', status, details })
  }
})

test('each tool is called once after what the user said last, and then comes the answer', () => {
  const tools = [tool('first'), tool('second')]
  const nameOf = (messages: readonly unknown[], more: object = {}): string | undefined =>
    readCompletionRequest('chat', { model: 'simulated-small', messages, tools, ...more }).tool?.name
  assert.equal(nameOf([user]), 'first')
  assert.equal(nameOf([user, result]), 'second')
  assert.equal(nameOf([user, result, result]), undefined)
  assert.equal(nameOf([user, result, result, user]), 'first')
  assert.equal(nameOf([user], { tool_choice: 'none' }), undefined)
  assert.equal(nameOf([user], { tools: ['what is this'] }), undefined)
})

test("a tool's arguments have the types that it declares", () => {
  const parameters = {
    type: 'object',
    properties: {
      station: { type: 'string' },
      depth: { type: 'number' },
      quick: { type: 'boolean' },
      days: { type: 'array' },
      unit: { enum: ['cm', 'inch'] },
      where: { type: 'object', properties: { river: { type: 'string' } } },
    },
  }
  const { tool: called } = readCompletionRequest('chat', {
    model: 'simulated-small',
    messages: [user],
    tools: [tool('measure', parameters)],
  })
  assert.deepEqual(JSON.parse(called?.arguments ?? ''), {
    station: 'simulated',
    depth: 1,
    quick: true,
    days: [],
    unit: 'cm',
    where: { river: 'simulated' },
  })
})

test('a long prompt of a later turn is cached for the most part', () => {
  const long = { role: 'user', content: 'water '.repeat(1000) }
  const read = (messages: readonly unknown[]): readonly [number, number] => {
    const { promptTokens, cachedTokens } = readCompletionRequest('chat', {
      model: 'simulated-small',
      messages,
    })
    return [promptTokens, cachedTokens]
  }
  assert.equal(read([long])[1], 0)
  assert.equal(read([user, { role: 'assistant', content: 'High.' }])[1], 0)
  const [prompt, cached] = read([long, { role: 'assistant', content: 'Yes.' }, user])
  assert.ok(cached > prompt - 128 && cached <= prompt && cached % 128 === 0, `${cached} of ${prompt}`)
})
