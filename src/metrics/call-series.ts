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
  // From 1,000 tokens a second down to one.
  outputToken: [0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
  overhead: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
} as const

const nanoDollars = 1e9
const msPerS = 1000

/** A figure of a call; null counts as nothing. */
type Figure = (call: StoredCall) => number | null

/** Of the labels that it has. */
type Times = readonly [histogram: Histogram, labelNames: readonly string[], milliseconds: Figure]

/** What is counted of ended calls. Times are of calls that went well, as on the page and in `/api/query`. */
export class CallSeries {
  readonly #models = new ModelLabels()
  readonly #calls: Counter
  readonly #failures: Counter
  readonly #tokens: Counter
  readonly #cost: Counter
  /** Without labels. */
  readonly #sums: readonly (readonly [Counter, Figure])[]
  readonly #times: readonly Times[]

  constructor(registry: Registry) {
    const registers = [registry]
    const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name: `tokenweir_${name}_total`, help, labelNames, registers })
    const histogram = (
      name: string,
      help: string,
      bounds: readonly number[],
      labelNames: string[],
      of: Figure,
    ): Times => [
      new Histogram({
        name: `tokenweir_${name}_seconds`,
        help,
        labelNames,
        registers,
        buckets: [...bounds],
      }),
      labelNames,
      of,
    ]

    this.#calls = counter('calls', 'Calls that have ended.', ['call_type', 'model', 'outcome'])
    this.#failures = counter('failures', 'Calls that failed, by the code of docs/errors.md.', [
      'failure_code',
    ])
    this.#tokens = counter('tokens', 'Tokens that upstreams reported.', ['model', 'type'])
    this.#cost = counter('cost_usd', 'US dollars by the prices in force when the calls began.', ['model'])
    this.#sums = [
      [
        counter('cached_input_tokens', 'Input tokens read from a cache.'),
        ({ cachedInputTokens }) => cachedInputTokens,
      ],
      [
        counter('cache_write_tokens', 'Input tokens written to a cache.'),
        ({ cacheWriteTokens }) => cacheWriteTokens,
      ],
      [counter('reasoning_tokens', 'Output tokens of reasoning.'), ({ reasoningTokens }) => reasoningTokens],
      [counter('response_bytes', 'Bytes of the bodies of answers.'), ({ responseBytes }) => responseBytes],
      [
        counter('unpriced_calls', 'Calls with usage whose price is not known.'),
        ({ usageSource, costNanoUsd }) => (usageSource !== 'none' && costNanoUsd === null ? 1 : 0),
      ],
    ]
    const [byModel, byType] = [['model'], ['call_type', 'model']]
    this.#times = [
      histogram(
        'call_duration',
        'From the head of the request to the last byte of the answer.',
        buckets.call,
        byType,
        ({ durationMs }) => durationMs,
      ),
      histogram(
        'time_to_first_token',
        'From dispatch to the first content.',
        buckets.firstToken,
        byModel,
        ({ ttftMs }) => ttftMs,
      ),
      histogram(
        'time_per_output_token',
        'Per output token after the first.',
        buckets.outputToken,
        byModel,
        ({ tpotMs }) => tpotMs,
      ),
      histogram('queue_wait', 'Wait for a slot.', buckets.wait, [], ({ queueMs }) => queueMs),
      histogram('overhead', 'What the gateway itself took of a call.', buckets.overhead, [], (call) => {
        return call.overheadMs
      }),
    ]
    // A series that begins with its first failure shows no rise.
    for (const code of Object.keys(failureKinds)) this.#failures.inc({ failure_code: code }, 0)
  }

  /** Counts calls that have become rows: those with the same labels together, as to look up a series costs the most. */
  count(calls: readonly StoredCall[]): void {
    const keyOf = ({ callType, outcome, model }: StoredCall): string =>
      `${callType} ${outcome} ${this.#models.labelOf(model, isFailed(outcome))}`
    for (const [key, alike] of Map.groupBy(calls, keyOf)) this.#countAlike(key, alike)
    for (const [counter, figure] of this.#sums) counter.inc(sumOf(calls, figure))
    for (const { failureCode } of calls) {
      if (failureCode !== null) this.#failures.inc({ failure_code: failureCode })
    }
  }

  #countAlike(key: string, calls: readonly StoredCall[]): void {
    const [call_type = '', outcome = ''] = key.split(' ', 2)
    const model = key.slice(call_type.length + outcome.length + 2)
    this.#calls.inc({ call_type, model, outcome }, calls.length)
    this.#tokens.inc(
      { model, type: 'input' },
      sumOf(calls, ({ inputTokens }) => inputTokens),
    )
    this.#tokens.inc(
      { model, type: 'output' },
      sumOf(calls, ({ outputTokens }) => outputTokens),
    )
    this.#cost.inc({ model }, sumOf(calls, ({ costNanoUsd }) => costNanoUsd) / nanoDollars)
    if (outcome !== 'ok') return
    const labels: Readonly<Record<string, string>> = { call_type, model }
    for (const [histogram, names, figure] of this.#times) {
      const own = Object.fromEntries(names.map((name) => [name, labels[name] ?? '']))
      for (const call of calls) {
        const ms = figure(call)
        if (ms !== null) histogram.observe(own, ms / msPerS)
      }
    }
  }
}

/** An upstream may report any count it likes, and a counter cannot fall. */
function sumOf(calls: readonly StoredCall[], figure: Figure): number {
  let sum = 0
  for (const call of calls) sum += Math.max(0, figure(call) ?? 0)
  return sum
}
