import { isUnpriced } from '../call/unpriced.ts'
import type { StoredCall } from '../call/call-record.ts'
import { failureKinds } from '../call/failure.ts'
import { isFailed } from '../call/outcome.ts'
import { ModelLabels } from './model-labels.ts'
import { Counter, Histogram, type Registry } from './prom-client.ts'

/** Upper bounds in seconds. */
const buckets = {
  call: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
  firstToken: [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60],
  wait: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  // From 1,000 tokens per second down to one.
  outputToken: [0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
  overhead: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
} as const

const nanoDollars = 1e9
const msPerS = 1000

type NumberField = {
  [Name in keyof StoredCall]: StoredCall[Name] extends number | null ? Name : never
}[keyof StoredCall]

/** Sums without labels. */
const sums: readonly (readonly [name: string, of: NumberField, help: string])[] = [
  ['cached_input_tokens', 'cachedInputTokens', 'Input tokens read from a cache.'],
  ['cache_write_tokens', 'cacheWriteTokens', 'Input tokens written to a cache.'],
  ['reasoning_tokens', 'reasoningTokens', 'Output tokens of reasoning.'],
  ['response_bytes', 'responseBytes', 'Bytes of the bodies of answers.'],
]

/** A histogram: name, field, buckets, labels, help. */
type Timed = readonly [string, NumberField, keyof typeof buckets, labels: string[], help: string]
const times: readonly Timed[] = [
  ['call_duration', 'durationMs', 'call', ['call_type', 'model'], 'From the head to the last byte.'],
  ['time_to_first_token', 'ttftMs', 'firstToken', ['model'], 'From dispatch to the first content.'],
  ['time_per_output_token', 'tpotMs', 'outputToken', ['model'], 'Per output token after the first.'],
  ['queue_wait', 'queueMs', 'wait', [], 'Wait for a slot.'],
  ['overhead', 'overheadMs', 'overhead', [], 'What the gateway itself took of a call.'],
]

/**
 * The series of ended calls. Times are those of successful calls, and the wait for a slot that of all calls,
 * as on the page and in `/api/query`.
 */
export class CallSeries {
  readonly #models = new ModelLabels()
  readonly #calls: Counter
  readonly #failures: Counter
  readonly #tokens: Counter
  readonly #cost: Counter
  readonly #unpriced: Counter
  readonly #sums: readonly (readonly [Counter, NumberField])[]
  readonly #times: readonly (readonly [Histogram, labels: readonly string[], NumberField])[]

  constructor(registry: Registry) {
    const registers = [registry]
    const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name: `tokenweir_${name}_total`, help, labelNames, registers })
    this.#calls = counter('calls', 'Calls that have ended.', ['call_type', 'model', 'outcome'])
    const byCode = 'Calls that failed, or whose client left, by the code of docs/errors.md.'
    this.#failures = counter('failures', byCode, ['failure_code'])
    this.#tokens = counter('tokens', 'Tokens that upstreams reported.', ['model', 'type'])
    this.#cost = counter('cost_usd', 'US dollars by the prices in force when the calls began.', ['model'])
    this.#unpriced = counter('unpriced_calls', 'Calls with usage whose price is not known.')
    this.#sums = sums.map(([name, field, help]) => [counter(name, help), field])
    this.#times = times.map(([part, field, bounds, labelNames, help]) => {
      const name = `tokenweir_${part}_seconds`
      const histogram = new Histogram({ name, help, labelNames, registers, buckets: [...buckets[bounds]] })
      return [histogram, labelNames, field]
    })
    // All codes start at 0, because a series that begins with its first failure would show no rise.
    for (const code of Object.keys(failureKinds)) this.#failures.inc({ failure_code: code }, 0)
  }

  /**
   * Counts calls that have become rows. Calls with the same labels are counted together, because looking up a
   * series costs the most.
   */
  count(calls: readonly StoredCall[]): void {
    const keyOf = ({ callType, outcome, model }: StoredCall): string =>
      `${callType} ${outcome} ${this.#models.labelOf(model, isFailed(outcome))}`
    for (const [key, alike] of Map.groupBy(calls, keyOf)) this.#countAlike(key, alike)
    for (const [counter, field] of this.#sums) counter.inc(sumOf(calls, field))
    this.#unpriced.inc(calls.filter(isUnpriced).length)
    for (const { failureCode } of calls) {
      if (failureCode !== null) this.#failures.inc({ failure_code: failureCode })
    }
  }

  #countAlike(key: string, calls: readonly StoredCall[]): void {
    const [call_type = '', outcome = ''] = key.split(' ', 2)
    const model = key.slice(call_type.length + outcome.length + 2)
    this.#calls.inc({ call_type, model, outcome }, calls.length)
    this.#tokens.inc({ model, type: 'input' }, sumOf(calls, 'inputTokens'))
    this.#tokens.inc({ model, type: 'output' }, sumOf(calls, 'outputTokens'))
    this.#cost.inc({ model }, sumOf(calls, 'costNanoUsd') / nanoDollars)
    const labels: Readonly<Record<string, string>> = { call_type, model }
    for (const [histogram, names, field] of this.#times) {
      if (outcome !== 'ok' && field !== 'queueMs') continue
      const own = Object.fromEntries(names.map((name) => [name, labels[name] ?? '']))
      for (const call of calls) {
        const ms = call[field]
        if (ms !== null) histogram.observe(own, ms / msPerS)
      }
    }
  }
}

/** The sum of a field, without negative counts, which an upstream may report and a counter does not allow. */
function sumOf(calls: readonly StoredCall[], field: NumberField): number {
  let sum = 0
  for (const call of calls) sum += Math.max(0, call[field] ?? 0)
  return sum
}
