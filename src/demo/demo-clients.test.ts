import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { readCompletionRequest } from './completion-request.ts'
import { embeddingAnswer } from './embedding-answer.ts'
import { type DemoCall, type DemoStep, type DemoClient, demoClients, stepsOf } from './demo-clients.ts'
import { type Fields, fields } from '../lib/message-shape.ts'

const stepsEach = 400

function firstSteps(client: DemoClient, seed: number): DemoStep[] {
  return stepsOf(client, seededRandom(seed)).take(stepsEach).toArray()
}

function callsOf(steps: readonly DemoStep[]): DemoCall[] {
  return steps.flatMap((step) => (typeof step === 'number' ? [] : step))
}

const everybody = demoClients.flatMap((client, seed) => firstSteps(client, seed))

test('the same seed plans the same life', () => {
  for (const client of demoClients) assert.deepEqual(firstSteps(client, 7), firstSteps(client, 7))
})

test('every call is one that the simulated upstream can answer', () => {
  const read: Record<string, (body: Fields) => unknown> = {
    '/chat/completions': (body) => readCompletionRequest('chat', body),
    '/completions': (body) => readCompletionRequest('text', body),
    '/embeddings': (body) => embeddingAnswer(body, Math.random),
  }
  for (const { path, body } of callsOf(everybody)) {
    if (body === undefined) assert.equal(path, '/models')
    else assert.doesNotThrow(() => read[path]?.(fields(body)) ?? assert.fail(`POST ${path}`))
  }
})

test('all kinds of calls are made: streamed, whole, with tools, and such that are left', () => {
  const calls = callsOf(everybody)
  const bodies = calls.map(({ body }) => fields(body))
  const paths = [...new Set(calls.map(({ path }) => path))].toSorted()
  assert.equal(paths.join(' '), '/chat/completions /completions /embeddings /models')
  assert.ok(bodies.some((body) => body['stream'] === true && Array.isArray(body['tools'])))
  assert.ok(bodies.some((body) => body['stream'] !== true && Array.isArray(body['messages'])))
  const impatient = calls.filter(({ leaveAfterMs }) => leaveAfterMs !== undefined).length
  assert.ok(impatient > 0 && impatient < calls.length / 4, `${impatient} of ${calls.length} are left`)
})

test('the rate is gentle, and bursts are larger than the usual four slots', () => {
  let perS = 0
  for (const [seed, client] of demoClients.entries()) {
    const steps = firstSteps(client, seed)
    const pausedMs = steps.reduce<number>((sum, step) => sum + (typeof step === 'number' ? step : 0), 0)
    perS += (1000 * callsOf(steps).length) / pausedMs
  }
  assert.ok(perS > 0.3 && perS < 3, `${perS} calls a second`)
  const bursts = everybody.filter((step) => typeof step !== 'number' && step.length > 4)
  assert.ok(bursts.length > 10, `${bursts.length} bursts`)
})

test('nobody is silent for long at the start', () => {
  for (const client of demoClients) {
    const [first, second] = firstSteps(client, 8)
    assert.ok(typeof first === 'number' && first <= 6000)
    assert.ok(Array.isArray(second))
  }
})
