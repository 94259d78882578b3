import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { type CompletionPlan, planCompletion } from './completion-plan.ts'
import { type CompletionRequest, readCompletionRequest } from './completion-request.ts'
import type { SimulatedFault } from './simulated-fault.ts'

function requestOf(model: string, more: object = {}): CompletionRequest {
  return readCompletionRequest('chat', { model, messages: [{ role: 'user', content: 'Hello' }], ...more })
}

function plans(request: CompletionRequest, fault: SimulatedFault | null = null): CompletionPlan[] {
  return Array.from({ length: 100 }, (_, seed) => planCompletion(request, fault, seededRandom(seed)))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

test('tokens come one after the other', () => {
  for (const plan of plans(requestOf('simulated-reasoner'))) {
    for (const [i, token] of plan.tokens.entries()) assert.ok(token.atMs >= (plan.tokens[i - 1]?.atMs ?? 0))
    assert.equal(plan.finishReason, 'stop')
  }
})

test('the models differ as their table says', () => {
  for (const [id, tokensPerS] of [
    ['simulated-small', 75],
    ['simulated-large', 38],
  ] as const) {
    const of = plans(requestOf(id))
    const speed = median(
      of.map(({ tokens }) => (1000 * (tokens.length - 1)) / (tokens.at(-1)!.atMs - tokens[0]!.atMs)),
    )
    assert.ok(Math.abs(speed / tokensPerS - 1) < 0.15, `${id}: ${speed} tokens a second`)
    assert.ok(of.every(({ tokens }) => tokens.every(({ kind }) => kind === 'content')))
  }
  const thinks = plans(requestOf('simulated-reasoner'))
  assert.ok(
    thinks.every(({ tokens }) => tokens[0]?.kind === 'reasoning' && tokens.at(-1)?.kind === 'content'),
  )
})

test('a stalled answer pauses for over a second once', () => {
  const request = requestOf('simulated-small')
  for (const { tokens } of plans(request, 'stalled')) {
    const stalls = tokens.filter(({ atMs }, i) => i > 0 && atMs - (tokens[i - 1]?.atMs ?? 0) > 1000)
    assert.equal(stalls.length, 1)
  }
})

test('the same seed plans the same answer', () => {
  const plan = (): CompletionPlan => planCompletion(requestOf('simulated-large'), null, seededRandom(9))
  assert.deepEqual(plan(), plan())
})
